"""Two-body impacts: a million random ones solved and checked, ten thousand against a precise integration.

python benchmarks/two_body.py                    # all of it
python benchmarks/two_body.py --n 100000 --share 1000
python benchmarks/two_body.py --device cuda      # the same impacts on a GPU, compared with the CPU
"""

import time

import numpy as np

from measure import Table, command_line, counted, status_names, timed
from precise_impacts import precise
from problems import KINDS, impacts
from routh import two_body
from routh.reproduce.jw17 import BOWLING, ICOSAHEDRON
from routh.two_body.api import kernel_seconds


def times(w, v, mu, e, kind):
    rows = {"the mix": (w, v, mu, e)}
    for k, name in enumerate(KINDS):
        pick = kind == k
        rows[f"- {name}"] = tuple(np.ascontiguousarray(a[pick]) for a in (w, v, mu, e))
    for name, case in (
        ("JW17 Table 1, icosahedron", ICOSAHEDRON),
        ("JW17 Table 1, bowling", BOWLING),
    ):
        rows[name] = tuple(np.array(np.broadcast_to(a, (20000, *np.shape(a)))) for a in case)
    print()
    table = Table({"one core, in bulk": "<26", "us per impact": ".2f"})
    for name, case in rows.items():
        table.row(name, 1e6 * kernel_seconds(*case))


def checks(w, v, mu, e, kind, many):
    n = len(mu)
    print(f"{n} impacts: " + ", ".join(f"{(kind == k).sum()} {name}" for k, name in enumerate(KINDS)))
    print(f"  {counted(status_names(many.status))}")
    before = 0.5 * np.einsum("ni,ni->n", v, np.linalg.solve(w, v[:, :, None])[:, :, 0])
    print(f"  largest residual {many.residual.max():.1e}; segments {many.segments.mean():.2f} mean, "
          f"{many.segments.max():.0f} most")  # fmt: skip
    force = np.abs(many.impulse)
    terms = np.einsum("ni,nij,nj->n", force, np.abs(w), force) + np.einsum("ni,ni->n", force, np.abs(v))
    lost = many.energy.lost
    print(f"  smallest loss of energy (negative: created) {np.min(lost / before):.1e} of the kinetic energy, "
          f"{np.min(lost / terms):.1e} of the terms that it is the sum of")  # fmt: skip
    cone = np.hypot(many.impulse[:, 0], many.impulse[:, 1]) - mu * many.impulse[:, 2]
    print(f"  largest excess over Coulomb's cone / impulse {np.max(cone / many.impulse[:, 2]):.1e}")
    print(f"  condition (18) violated in {np.mean(many.margin < 0):.1%} of all, "
          f"{np.mean(many.margin[mu > 1] < 0):.1%} with mu > 1")  # fmt: skip
    counts = many.event_counts()
    print("  event orders: " + ", ".join(f"{k} {v}" for k, v in list(counts.items())[:24]))
    again = sum(count for letters, count in counts.items() if "k" in letters)
    print(f"  v_z turned back during restitution in {again}")


def comparison(w, v, mu, e, kind, many, share, seed):
    rows = np.random.default_rng(seed).choice(len(mu), share, replace=False)
    expected, spent = timed(precise, w[rows], v[rows], mu[rows], e[rows])
    off = np.linalg.norm(many.impulse[rows] - expected, axis=1) / np.linalg.norm(expected, axis=1)
    print(f"\n{share} of them against an eighth-order integration at 1e-12 ({spent:.0f} s)")  # fmt: skip
    quantiles = np.quantile(off, [0.5, 0.99, 0.999, 1.0])
    print("  relative error of the total impulse: median {:.1e}, 99 % {:.1e}, 99.9 % {:.1e}, "
          "largest {:.1e}".format(*quantiles))  # fmt: skip
    for k in np.unique(kind[rows]):
        print(f"    {KINDS[k]:10s} largest {off[kind[rows] == k].max():.1e}")
    for i in rows[np.argsort(-off)[:3]]:
        print(f"    worst: row {i}, {KINDS[kind[i]]}, events {many.events(i)}, mu {mu[i]:.3g}, e {e[i]:.3g}")


def extremes(seed, n=200_000):
    """Friction from 1e-6 to 1e5, eigenvalues of W over eight decades, approach over sixteen."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    w = np.einsum("nij,nj,nkj->nik", turn, 10.0 ** rng.uniform(-4, 4, (n, 3)), turn)
    w = 0.5 * (w + np.swapaxes(w, 1, 2))
    v = rng.normal(size=(n, 3))
    v[:, 2] = -np.abs(v[:, 2]) * 10.0 ** rng.uniform(-8, 8, n)
    mu, e = 10.0 ** rng.uniform(-6, 5, n), rng.choice([0.0, 1e-6, 0.5, 1.0], n)
    print(f"\n{n} extreme impacts")
    for hypothesis in ("energetic", "poisson", "newton"):
        many = two_body.batch(w, v, mu, e, hypothesis=hypothesis)
        told = counted(status_names(many.status))
        print(f"  {hypothesis}: {told}; largest residual {many.residual.max():.1e}, "
              f"at most {many.segments.max():.0f} segments")  # fmt: skip


def on_gpu(w, v, mu, e, many):
    two_body.batch(w[:64], v[:64], mu[:64], e[:64], device="cuda")  # compiles
    other, spent = timed(two_body.batch, w, v, mu, e, device="cuda", clock=time.perf_counter)
    off = np.linalg.norm(other.impulse - many.impulse, axis=1) / np.linalg.norm(many.impulse, axis=1)
    same = np.mean(other.event_codes == many.event_codes)
    print(f"\ncuda: {1e6 * spent / len(mu):.3f} us per impact with transfers and checks of the input; "
          f"largest difference {off.max():.1e}, equal event orders {same:.6f}, "
          f"solved {np.mean(other.status == 0):.6f}")  # fmt: skip


def main():
    parser = command_line(__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--share", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--no-times", action="store_true")
    given = parser.parse_args()
    w, v, mu, e, kind = impacts(given.seed, given.n)
    many = two_body.batch(w, v, mu, e)
    checks(w, v, mu, e, kind, many)
    if given.share:
        comparison(w, v, mu, e, kind, many, min(given.share, given.n), given.seed)
    extremes(given.seed)
    if given.device == "cuda":
        on_gpu(w, v, mu, e, many)
    if not given.no_times:
        first = slice(0, min(given.n, 100_000))
        times(*(np.ascontiguousarray(a[first]) for a in (w, v, mu, e, kind)))


if __name__ == "__main__":
    main()
