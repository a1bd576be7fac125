"""Which laws leave the set of outcomes, in Python and on the command line."""

import json

import pytest

import routh
from routh import laws, systems
from routh.auditing import audit_laws
from routh.sampling.path_residual import path_residual


@pytest.fixture(scope="module")
def found():
    return audit_laws(systems.impact("box-wall").replace(restitution=0.5), n=600, refine=32)


def test_springs_are_inside_and_an_algebraic_law_is_not(found):
    by_name = {one.law: one for one in found.answers}
    assert set(by_name) == {
        *("sequential", "moreau", "moreau-convex", "poisson", "energetic", "chatterjee-ruina", "lzb")
    }  # simultaneous has no restitution, others have one contact
    assert by_name["lzb"].proved
    assert not by_name["lzb"].outside
    assert "chatterjee-ruina" in found.outside
    assert by_name["chatterjee-ruina"].audit.distance > 0.2
    assert "lzb" not in found.outside


def test_lzb_follows_a_solution_of_the_elastic_model():
    """Checked by what knows nothing of springs: momentum, cones, slip, budgets, the end."""
    for name in ("pushing", "block-into-wall"):
        problem = systems.impact(name).replace(restitution=[0.9, 0.5, 0.0, 1.0][: systems.impact(name).nc])
        assert path_residual(problem, laws.LZB()(problem).path) < 1e-9


def test_a_law_that_gains_energy_is_outside():
    pendulum = routh.ImpactProblem(  # slip reverses, and Newton's rule pays for it
        [[1.333, 0.492], [0.492, 0.333]], [[0.342, 0.5]], [[0.94, 0.866]], 0.5, [-0.1, -0.2], restitution=0.5
    )
    found = audit_laws(pendulum, ["moreau", "energetic", "simultaneous"], n=64, refine=0)
    moreau, energetic, refused = found.answers
    assert moreau.result.status is routh.Status.ENERGY_GAINED
    assert moreau.outside
    assert "energy gained" in moreau.verdict
    assert not energetic.audit.broken
    assert refused.audit is None
    assert "Simultaneous is inelastic" in refused.verdict
    with pytest.raises(ValueError, match="law: got 'hooke'"):
        audit_laws(pendulum, ["hooke"])


def test_its_picture_has_every_answer(found):
    pytest.importorskip("matplotlib")
    figure = found.plot()
    (legend,) = figure.legends
    said = " ".join(text.get_text() for text in legend.get_texts())
    assert "lzb" in said
    assert "chatterjee-ruina (outside)" in said


def test_the_command(routh_command, tmp_path):
    few = ["-n", "200", "--law", "lzb", "--law", "chatterjee-ruina"]
    code, out, _ = routh_command(
        "audit", "box-wall", "--restitution", "0.5", *few, "--out", "laws.png", "--json"
    )
    assert code == 0
    rows = {row["law"]: row for row in json.loads(out)["laws"]}
    assert rows["chatterjee-ruina"]["outside"]
    assert not rows["lzb"]["outside"]
    assert (tmp_path / "laws.png").stat().st_size > 10_000
    for wrong, words in (
        (["--law", "hooke"], "law: got 'hooke'"),
        (["--duration", "2"], "--duration: only applies to rollouts"),
        (["--out", "laws.html"], "wanted one of .png"),
        (["--qvel", "2:-1"], "box-wall is not a robot file"),
    ):
        code, _, err = routh_command("audit", "box-wall", *wrong)
        assert code == 2
        assert words in err
    code, _, err = routh_command("audit", "robot.xml", "--restitution", "0.5")
    assert code == 2
    assert "--restitution: only applies to laws" in err
