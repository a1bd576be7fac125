"""Animations of motions: GIF, MP4 or a folder of PNG frames; the futures of a fan as ghosts."""

from __future__ import annotations

import importlib
import math
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from routh.models.planar import PlanarModel
from routh.sim import Bundle, Trajectory
from routh.status import RouthError
from routh.validation import Array, integer, real
from routh.viz import style
from routh.viz.bodies import draw_bodies, draw_planes, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_GHOSTS = 24  # futures drawn at once
MOST_FRAMES = 2000


class MissingEncoderError(RouthError):
    """There is no program that can write the video; the message says what to do."""


def animate(
    model: PlanarModel,
    motion: Trajectory | Bundle,
    path: str | Path,
    *,
    fps: int = 25,
    speed: float = 1.0,
    width: int = 640,
    title: str = "",
) -> Path:
    """Write an animation of one motion, or of a fan of futures.

    Parameters
    ----------
    model : a planar model.
    motion : what to show; of a bundle at most 24 futures are drawn.
    path : ``.gif``, ``.mp4`` (needs ffmpeg), or anything without a suffix: a folder of PNG frames.
    fps : frames per second; speed : seconds of motion per second of film, e.g. 0.25 for slow motion.
    width : of the picture in pixels.

    Returns the path written. Time runs evenly: an impact is an instant, whatever it takes in augmented time.
    """
    if not isinstance(model, PlanarModel):
        raise ValueError(f"model: got {type(model).__name__}; animations are drawn of planar models")
    target = Path(path)
    kind = film_kind(target)
    futures = [motion] if isinstance(motion, Trajectory) else list(motion)[:MOST_GHOSTS]
    times = _times(futures, integer("fps", fps, at_least=1), real("speed", speed, above=0.0))
    with style.context():
        fig, ax = _stage(model, futures, integer("width", width, at_least=64))
        if kind == "frames":
            _write_frames(fig, ax, model, futures, times, target, title)
        else:
            _write_film(fig, ax, model, futures, times, target, kind, fps, title)
        style.close(fig)
    return target


def film_kind(target: Path) -> str:
    """What a path asks for: "gif", "mp4" or "frames"; refuses what cannot be written."""
    suffix = target.suffix.lower()
    if suffix == "":
        return "frames"
    if suffix not in (".gif", ".mp4"):
        raise ValueError(f"path: got {target.name!r}; wanted .gif, .mp4, or a folder for PNG frames")
    if suffix == ".mp4":
        _ffmpeg()
    return suffix[1:]


def _ffmpeg() -> str:
    """Where ffmpeg is: the system's, or that of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise MissingEncoderError(
            "ffmpeg: not found; bring it with: pip install imageio-ffmpeg, or choose a .gif or a folder"
        ) from None


def _times(futures: list[Trajectory], fps: int, speed: float) -> Array:
    first, last = float(futures[0].t[0]), max(float(one.t[-1]) for one in futures)
    count = max(math.ceil((last - first) / speed * fps), 1) + 1
    if count > MOST_FRAMES:
        raise ValueError(f"speed: got {speed:g}, which makes {count} frames; wanted at most {MOST_FRAMES}")
    return np.minimum(first + np.arange(count) * speed / fps, last)


def _stage(model: PlanarModel, futures: list[Trajectory], width: int) -> tuple[Figure, Axes]:
    """Empty axes that hold the whole motion, with the obstacles."""
    seen = [q for one in futures for q in one.q[:: max(len(one) // 60, 1)]]
    fig, axes = style.figure(1, 1, width=width / 100, height=width / 100)
    ax: Axes = axes[0]
    frame(ax, model, seen, pad=0.08)
    draw_planes(ax, model)
    high, wide = np.ptp(ax.get_ylim()), np.ptp(ax.get_xlim())
    tall = min(max(width * float(high / wide), 0.4 * width), 1.2 * width)
    fig.set_size_inches(width / 100, 2 * round(tall / 2) / 100)  # encoders want even numbers
    return fig, ax


def _draw(ax: Axes, model: PlanarModel, futures: list[Trajectory], t: float, title: str) -> list[Any]:
    """Draw all futures at one time; the artists, so that they can be removed."""
    before = {*ax.lines, *ax.patches, *ax.texts}
    for k, one in enumerate(reversed(futures)):
        leading = k == len(futures) - 1
        draw_bodies(ax, model, _configuration(one, t), ghost=not leading, zorder=3.0 if leading else 2.0)
    ax.text(0.02, 0.97, f"{title}  t = {t:.3f} s".strip(), transform=ax.transAxes, va="top", fontsize=9)
    return [artist for artist in (*ax.lines, *ax.patches, *ax.texts) if artist not in before]


def _configuration(one: Trajectory, t: float) -> Array:
    return np.array([np.interp(t, one.t, column) for column in one.q.T])


def _write_frames(
    fig: Figure,
    ax: Axes,
    model: PlanarModel,
    futures: list[Trajectory],
    times: Array,
    target: Path,
    title: str,
) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for k, t in enumerate(times):
        artists = _draw(ax, model, futures, float(t), title)
        (target / f"frame-{k:05d}.png").write_bytes(style.png(fig, dpi=100, crop=False))
        for artist in artists:
            artist.remove()


def _write_film(
    fig: Figure,
    ax: Axes,
    model: PlanarModel,
    futures: list[Trajectory],
    times: Array,
    target: Path,
    kind: str,
    fps: int,
    title: str,
) -> None:
    from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter

    target.parent.mkdir(parents=True, exist_ok=True)
    if kind == "mp4":
        style.matplotlib().rcParams["animation.ffmpeg_path"] = _ffmpeg()
    writer: AbstractMovieWriter = PillowWriter(fps=fps) if kind == "gif" else FFMpegWriter(fps=fps)
    with writer.saving(fig, str(target), dpi=100):
        for t in times:
            artists = _draw(ax, model, futures, float(t), title)
            writer.grab_frame()
            for artist in artists:
                artist.remove()
