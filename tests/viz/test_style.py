import pickle
import sys

import numpy as np
import pytest

from routh.base.status import MissingExtraError
from routh.viz import style


def test_the_style_does_not_leak():
    import matplotlib

    before = dict(matplotlib.rcParams)
    with style.context():
        assert matplotlib.rcParams["font.size"] == style.parameters()["font.size"]
    assert dict(matplotlib.rcParams) == before


def test_equal_figures_are_equal_files(tmp_path):
    files = []
    for name in ("one", "two"):
        with style.context():
            fig, axes = style.figure(1, 2, width=style.TWO_COLUMNS)
            axes[0].plot([0, 1], [0, 1], label="line")
            style.letter(axes)
            style.legend_below(fig, axes)
            files.append(
                [style.save(fig, tmp_path / f"{name}.{kind}").read_bytes() for kind in ("png", "pdf")]
            )
    assert files[0] == files[1]
    assert style.png(fig)[:4] == b"\x89PNG"


def test_a_figure_without_pyplot_is_shown_by_notebooks_and_travels(monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with style.context():
        fig, axes = style.figure(1, 2, width=style.TWO_COLUMNS, dpi=130, width_ratios=[2, 1])
        axes[0].set(xlim=(-1e-3, 2e-3), ylim=(0.0, 1.0), xlabel="speed (m/s)", title="many")
        axes[1].plot([0, 1], [0, 1], label="line")
        style.legend_below(fig, axes)
        assert fig._repr_png_() == style.png(fig)
        travelled = pickle.loads(pickle.dumps(fig))
        assert travelled._repr_png_() == style.png(travelled) == style.png(fig)


def test_panels_are_lettered():
    with style.context():
        _, axes = style.figure(2, 2)
        axes[1].set_title("second")
        style.letter(axes)
    assert [ax.get_title(loc="left") for ax in axes] == ["(a)", "(b)  second", "(c)", "(d)"]


def test_grids_lie_where_constrained_layout_puts_them():
    places = []
    for quick in (True, False):
        with style.context():
            fig, axes = style.figure(2, 2, width=style.TWO_COLUMNS)
            for ax, (low, high) in zip(
                axes, ((0.0, 1.0), (-2.7e3, 1e3), (-0.3, 0.51), (0.0, 1e-5)), strict=True
            ):
                ax.set(
                    xlim=(low, high), ylim=(low, 1.02 * high), xlabel="speed (m/s)", ylabel="two\nlines (m/s)"
                )
                style.plain_ticks(ax)
            axes[0].set_title("second\nline")
            axes[3].set_visible(False)
            style.letter(axes)
            if quick:
                style.lay_out_grid(fig, axes.reshape(2, 2))
            else:
                style.lay_out(fig)
            assert fig.get_layout_engine() is None  # drawing does not move them
            places.append([ax.get_position().bounds for ax in axes[:3]] * np.tile(fig.bbox.size, 2))
    assert places[0] == pytest.approx(places[1], abs=1.5)  # pixels


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[viz\]'?"):
        style.figure()


@pytest.mark.parametrize("color", style.CYCLE[:-1])
def test_density_maps_go_from_light_to_dark(color):
    light, dark = style.density_map(color)([0.0, 1.0])[:, :3]
    assert light.sum() > dark.sum()
