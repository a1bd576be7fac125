"""One way to draw any result."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import routh
from routh import laws, systems
from routh.base.results import Drawable
from routh.viz import plot, style

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


def results():
    block = systems.get("rocking-block").problem
    outcomes = routh.sample(block, 16)
    after = laws.Simultaneous()(block)
    motion = systems.get("bouncing-ball")
    fan = routh.simulate_many(motion.model, motion.state, n=2, duration=0.2)
    scan = routh.scan(lambda mu: block.replace(mu=mu), {"mu": [0.2, 0.5]}, n=8)
    audit = routh.audit(block, after.v, n=16)
    box = systems.get("box-drop").problem
    return [outcomes, after, laws.Simultaneous()(box), audit, scan, fan, fan[0]]


@pytest.mark.parametrize("result", results(), ids=lambda result: type(result).__name__)
def test_every_result_draws_itself_into_a_figure_or_into_given_axes(result):
    figure = result.plot()
    assert isinstance(figure, Figure)
    assert figure.axes[0].has_data()
    mine = Figure()
    axes = mine.subplots()
    assert result.plot(axes) is mine
    assert axes.has_data()


def test_figures_of_our_own_have_our_style_and_given_axes_that_of_the_caller():
    after = laws.Simultaneous()(systems.get("rocking-block").problem)
    ours = after.plot().axes[0].get_legend().get_texts()[0].get_fontsize()
    given = Figure().subplots()
    after.plot(given)
    assert ours == style.parameters()["legend.fontsize"]
    assert given.get_legend().get_texts()[0].get_fontsize() != ours


def test_every_drawable_class_is_drawn_by_plot_and_by_nothing_else():
    """One signature: the result, ``axes=None``, then keywords; and no class has a ``plot`` of its own."""
    for module in pkgutil.walk_packages(routh.__path__, "routh."):
        if "kernels" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds = [kind for kind in Drawable.__subclasses__() if kind.__module__.startswith("routh.")]
    assert {"Outcomes", "ExactSet", "Audit", "Scan", "Trajectory", "Bundle"} <= {k.__name__ for k in kinds}
    for kind in kinds:
        assert "plot" not in vars(kind)
        draw = plot.dispatch(kind)
        assert draw is not plot.dispatch(object), kind
        first, axes, *rest = inspect.signature(draw).parameters.values()
        assert first.default is inspect.Parameter.empty
        assert (axes.name, axes.default) == ("axes", None)
        assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in rest)
        assert inspect.signature(draw).return_annotation == "Figure"


def test_an_exact_set_is_drawn_in_normal_velocities_unless_told_otherwise():
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get("rocking-block").problem)
    axes = exact.plot().axes[0]
    assert axes.get_xlabel() == "A normal velocity (m/s)"
    assert axes.has_data()
    mine = Figure()
    assert exact.plot(mine.subplots(), rows=np.eye(3)[:2]) is mine


def test_the_axes_of_an_exact_set_say_what_they_show():
    pytest.importorskip("ppl")
    gait = systems.impact("compass-gait")
    exact = routh.exact_set(gait)
    for rows, labels in (
        ([gait.Jt[1, 0], gait.Jn[1]], ("B tangential velocity (m/s)", "B normal velocity (m/s)")),
        (np.eye(4)[[3, 0]], ("component 3 of v", "component 0 of v")),
        ([gait.Jn[0] + gait.Jn[1], -gait.Jn[0]], ("rows[0] · v", "rows[1] · v")),
    ):
        axes = exact.plot(rows=rows).axes[0]
        assert (axes.get_xlabel(), axes.get_ylabel()) == labels


def test_what_is_no_result_is_refused_with_the_list_of_those_that_are():
    with pytest.raises(ValueError, match=r"result: got int; wanted one of Audit, Bundle, Design, ExactSet, "):
        plot(3)


def test_a_run_with_its_picture_does_not_wait_for_scipy_and_the_simulators(tmp_path):
    """They take longer to load than the run takes; exact sets are part of the picture."""
    code = (
        "import atexit, sys; from routh.cli import main\n"
        "slow = {'routh.sim', 'routh.constraints', 'routh.robust', 'scipy.sparse', 'scipy.special'}\n"
        "def told(): print(sorted(slow & set(sys.modules)), 'routh.exact.build' in sys.modules)\n"
        "atexit.register(told)\n"
        "main()"
    )
    command = [sys.executable, "-c", code, "run", "rocking-block", "--samples", "16"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (tmp_path / "rocking-block.png").exists()
    assert run.stdout.endswith("[] True\n")
