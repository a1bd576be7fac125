#!/bin/bash
# The README's commands in a system that has nothing but Python: no compiler, no libgomp, no git, no cache.
#
#   scripts/fresh_system.sh SUITE PYTHON                   # as root: bookworm 3.11, trixie 3.13, unstable 3.14
#   scripts/fresh_system.sh SUITE PYTHON --tests [ARGS]    # and the test suite; ARGS go to pytest
#   scripts/fresh_system.sh SUITE PYTHON --wheel FILE      # the wheel or sdist alone in place of the clone
#
# Debian's SUITE is made with debootstrap (--variant=minbase) from MIRROR (default http://deb.debian.org/debian)
# in FRESH (default /var/tmp/fresh, 400 MB a suite, kept for the next time), copied, and given python3.X and its venv.
# An ordinary user then types what README.md says under "Two commands", "Ten lines" and "Robots" in a copy of the
# files that git tracks; robot.xml is the lander, a little above the ground. Of your environment, only a proxy and pip's index and
# certificate go along. Prints one row of the table in docs/guide/install.md; its seconds are processor time.
set -euo pipefail

suite=${1:?SUITE, such as trixie} version=${2:?PYTHON, such as 3.13} what=${3:-}
shift $(($# < 3 ? $# : 3))
wheel=${1:-}
repository=$(cd "$(dirname "$0")/.." && pwd)
fresh=${FRESH:-/var/tmp/fresh}
if [[ $EUID != 0 ]] || ! command -v debootstrap > /dev/null; then
    echo "needs root and debootstrap (apt install debootstrap)" >&2
    exit 2
fi
if [[ -z ${IN_OWN_MOUNTS:-} ]]; then # mounts end with the process, whatever happens
    IN_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$suite" "$version" ${what:+"$what"} "$@"
fi

mkdir -p "$fresh"
if [[ ! -e $fresh/$suite/made ]]; then
    rm -rf "${fresh:?}/$suite"
    debootstrap --variant=minbase "$suite" "$fresh/$suite" "${MIRROR:-http://deb.debian.org/debian}" >&2
    touch "$fresh/$suite/made"
fi
root=$(mktemp -d "$fresh/$suite-$version.XXXX")
trap 'umount -l "$root/proc" "$root/dev/shm" "$root/dev" 2> /dev/null || true; rm -rf --one-file-system "$root"' EXIT
cp -a "$fresh/$suite/." "$root"
chmod 755 "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/"

inside() { # a command of root in the new system
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}
inside apt-get -qq -o Acquire::Check-Valid-Until=false update >&2 # a mirror may stand still
inside apt-get -qq install -y --no-install-recommends "python$version" "python$version-venv" >&2
ln -sf "/usr/bin/python$version" "$root/usr/local/bin/python3"
inside useradd --create-home --shell /bin/bash newcomer
home=$root/home/newcomer

passed=()
for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_CERT PIP_DEFAULT_TIMEOUT; do
    [[ -n ${!name:-} ]] && passed+=("$name=${!name}")
done
if [[ -n ${PIP_CERT:-} ]]; then
    install -D -m 644 "$PIP_CERT" "$root$PIP_CERT"
fi

commands() { # the sh block below a heading of the README
    awk -v title="## $1" '$0 == title {here = 1; next} /^## / {here = 0} /^```/ {
        if (inside) exit; inside = here && $0 == "```sh"; next} here && inside' "$repository/README.md"
}
{
    echo 'set -eux'
    if [[ $what == --wheel ]]; then
        cp "$wheel" "$home/"
        echo 'python3 -m venv .venv'
        echo ". .venv/bin/activate"
        echo "pip install --quiet '$(basename "$wheel")[viz,mujoco]'"
        echo 'routh run rocking-block'
        echo 'routh example'
        flags=$(sed -nE 's/^routh tip examples\/lander.xml ([^#]*).*/\1/p' "$repository/README.md")
        echo "routh tip \"\$(routh example lander)\" $flags || test \$? = 4 # no-go is an answer"
    else
        git -C "$repository" ls-files -z | tar -C "$repository" --null -T - -c | tar -C "$home" --no-same-owner -x
        sed 's/pos="0 0 0.55"/pos="0 0 0.75"/' "$repository/examples/lander.xml" > "$home/robot.xml"
        commands "Two commands"
        echo '. .venv/bin/activate'
        echo 'python - << "END"'
        awk '/^```/ {inside = $0 == "```python"; next} inside' "$repository/README.md"
        echo END
        # in a clone "." stands for the package's name, as the README says; no-go, 4, is an answer
        commands Robots | sed -E "s/'routh\[/'.[/; s/^(routh tip [^#]*[^# ]).*/\1 || test \$? = 4/"
        if [[ $what == --tests ]]; then
            echo "pip install --quiet -e '.[dev]'"
            echo "OMP_NUM_THREADS=1 python -m pytest -n auto --dist worksteal $(printf '%q ' "$@")"
        fi
    fi
} > "$home/typed.sh"
inside chown -R newcomer: /home/newcomer

result=ok
start=$(date +%s)
chroot --userspec=newcomer:newcomer "$root" /usr/bin/env -i HOME=/home/newcomer USER=newcomer LC_ALL=C.UTF-8 \
    PATH=/usr/local/bin:/usr/bin:/bin "${passed[@]}" \
    /bin/bash -c 'cd && bash typed.sh; code=$?; times > spent; exit $code' || result="exit code $?"
minutes='s/([0-9]+)m([0-9.]+)s ([0-9]+)m([0-9.]+)s/60*(\1+\3)+\2+\4/p'
spent=$(($(sed -nE "2$minutes" "$home/spent" | sed -E 's/\.[0-9]+//g')))
exact=$(inside "python$version" -c 'import platform; print(platform.python_version(), "|", platform.machine())')
pictures=$(cd "$home" && shopt -s nullglob && echo *.png *.html)
echo "wrote: $pictures; wall clock $(($(date +%s) - start)) s" >&2
echo "| $(date -I) | $suite | $exact | ${what:-README} | $spent | $result |"
[[ $result == ok ]]
