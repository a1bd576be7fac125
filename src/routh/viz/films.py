"""Films: frames of pixels as GIF, MP4 or PNG files (`write_frames`), and those of motions (`animate`).

A frame of a motion has the bodies above, the first future filled, the others as dashed outlines. Impacts part
futures by fractions of a millimetre, which do not show in the picture of a whole body: such motions are drawn
larger, and the picture says how much. Below are the gaps of the contacts over time, as they are.
"""

from __future__ import annotations

import importlib
import math
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np

from routh.base.status import InputError, RouthError, optional
from routh.base.storage import write_bytes
from routh.base.text import for_matplotlib
from routh.base.validation import Array, integer, real
from routh.models.base import Model
from routh.models.planar import PlanarModel
from routh.models.spatial import SpatialModel
from routh.sim import Bundle, Trajectory
from routh.viz import style
from routh.viz.bodies import Drawn, draw_bodies, draw_planes, frame

MOST_FRAMES = 2000
MOST_GHOSTS = 24  # futures drawn at once
MARGIN = 0.08  # of the picture, around the bodies of a motion
_PANEL = 2.2  # inch, height of the panel of gaps
_SEEN, _VISIBLE = 0.01, 0.05  # of the picture: motions below the first are drawn up to the second
_TOUCHED = 1e-6  # m: contacts that are never this near have no line, nor those that always are


class MissingEncoderError(RouthError):
    """There is no program that can write the video; the message says what to do."""


def film_kind(path: str | Path) -> str:
    """What a path asks for: "gif", "mp4" or "frames"; refuses what cannot be written."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix == "":
        return "frames"
    if suffix not in (".gif", ".mp4"):
        raise InputError("path", got=repr(target.name), wanted=".gif, .mp4, or a folder for PNG frames")
    if suffix == ".mp4":
        ffmpeg()
    return suffix[1:]


def check_frames(option: str, value: float, count: int) -> int:
    """The number of frames that an option makes, if a film may have so many."""
    if count > MOST_FRAMES:
        raise InputError(
            option, got=f"{value:g}, which makes {count} frames", wanted=f"at most {MOST_FRAMES}"
        )
    return count


def ffmpeg() -> str:
    """Path of ffmpeg: the system's, or that of the package imageio-ffmpeg."""
    if found := shutil.which("ffmpeg"):
        return found
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise MissingEncoderError(
            "ffmpeg: not found; bring it with: pip install imageio-ffmpeg, or choose a .gif or a folder"
        ) from None


def write_frames(frames: Iterable[np.ndarray], path: str | Path, fps: int) -> Path:
    """Write frames (h, w, 3) uint8; the path's suffix says as what, none means a folder."""
    target = Path(path)
    kind = film_kind(target)
    if kind == "frames":
        target.mkdir(parents=True, exist_ok=True)
        for k, pixels in enumerate(frames):
            write_bytes(target / f"frame-{k:05d}.png", png(pixels))
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    return _gif(frames, target, fps) if kind == "gif" else _mp4(frames, target, fps)


def png(pixels: np.ndarray) -> bytes:
    """Pixels (h, w, 3) uint8 as a PNG file."""
    stream = BytesIO()
    _pillow().fromarray(np.ascontiguousarray(pixels)).save(stream, format="PNG")
    return stream.getvalue()


def _pillow() -> ModuleType:
    return optional("PIL.Image", "viz", "matplotlib")


def _gif(frames: Iterable[np.ndarray], target: Path, fps: int) -> Path:
    """Colours are those of all frames, so that what does not move does not flicker and takes no room."""
    image, bins = _pillow(), np.array([1 << 10, 1 << 5, 1])  # colours alike in their first five bits
    kept, count, total = [], np.zeros(1 << 15), np.zeros((3, 1 << 15))
    for pixels in frames:
        kept.append(png(pixels))
        colours = pixels.reshape(-1, 3)
        which = (colours >> 3) @ bins
        count += np.bincount(which, minlength=len(count))
        for channel, sums in zip(colours.T, total, strict=True):
            sums += np.bincount(which, weights=channel, minlength=len(count))
    seen = np.flatnonzero(count)
    means = (total[:, seen] / count[seen]).T.round().astype(np.uint8)
    weight = np.sqrt(count[seen]).astype(int) + 1  # thin lines and words keep their colours, too
    palette = image.fromarray(np.repeat(means, weight, axis=0)[None]).quantize(128)
    pictures = [image.open(BytesIO(one)).quantize(palette=palette, dither=image.Dither.NONE) for one in kept]
    stream = BytesIO()
    pictures[0].save(
        stream, format="GIF", save_all=True, append_images=pictures[1:], duration=round(1000 / fps), loop=0
    )
    return write_bytes(target, stream.getvalue())


def _mp4(frames: Iterable[np.ndarray], target: Path, fps: int) -> Path:
    with TemporaryDirectory() as elsewhere:
        made = Path(elsewhere) / "film.mp4"
        words: list[str] = []
        process: subprocess.Popen[bytes] | None = None
        for pixels in frames:
            high, wide = (2 * (side // 2) for side in pixels.shape[:2])  # encoders want even numbers
            if process is None:
                size = f"{wide}x{high}"
                words = [ffmpeg(), "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size]
                words += ["-r", str(fps), "-i", "-", "-pix_fmt", "yuv420p", "-y", str(made)]
                process = subprocess.Popen(words, stdin=subprocess.PIPE)
            assert process.stdin is not None
            process.stdin.write(pixels[:high, :wide].tobytes())
        if process is None:
            raise InputError("frames", got="none", wanted="at least one")
        process.communicate()
        if process.returncode:
            raise MissingEncoderError(f"ffmpeg: ended with {process.returncode}; choose a .gif or a folder")
        return write_bytes(target, made.read_bytes())


def animate(
    model: Drawn,
    motion: Trajectory | Bundle,
    path: str | Path,
    *,
    fps: int = 25,
    speed: float = 1.0,
    width: int = 640,
    title: str = "",
    magnify: float | None = None,
) -> Path:
    """Write an animation of one motion, or of a fan of futures.

    Time runs evenly: an impact is an instant, whatever it takes in augmented time.

    Parameters
    ----------
    model : a planar model, or one of bodies in space, which are seen obliquely.
    motion : what to show; of a bundle at most 24 futures are drawn.
    path : ``.gif``, ``.mp4`` (needs ffmpeg), or anything without a suffix: a folder of PNG frames.
    fps : frames per second.
    speed : seconds of motion per second of film, e.g. 0.25 for slow motion.
    width : of the picture in pixels.
    magnify : how many times larger than it is the motion is drawn, from where it starts; 1: as it is, which
        is all that bodies in space can. Default: 1, or 2, 5, 10, ... where nothing would be seen to move.

    Returns
    -------
    Path
        What was written.
    """
    if not isinstance(model, Drawn):
        raise InputError(
            "model", got=type(model).__name__, wanted="a planar model, or one of bodies in space"
        )
    if magnify not in (None, 1.0) and isinstance(model, SpatialModel):
        raise InputError("magnify", got=f"{magnify:g} for bodies in space", wanted="1")
    film_kind(path)  # before the work, not after it
    futures = [motion] if isinstance(motion, Trajectory) else list(motion)[:MOST_GHOSTS]
    times = _times(futures, integer("fps", fps, at_least=1), real("speed", speed, above=0.0))
    with style.context():
        wanted = None if magnify is None else real("magnify", magnify, above=0.0)
        stage = _Stage(model, futures, integer("width", width, at_least=64), title, wanted)
        target = write_frames(stage.frames(times), path, fps)
        style.close(stage.fig)
    return target


def _times(futures: list[Trajectory], fps: int, speed: float) -> Array:
    first, last = float(futures[0].t[0]), max(float(one.t[-1]) for one in futures)
    count = max(math.ceil((last - first) / speed * fps), 1) + 1
    return np.minimum(first + np.arange(check_frames("speed", speed, count)) * speed / fps, last)


def _magnified(q: Array, start: Array, factor: float) -> Array:
    return q if factor == 1.0 else start + factor * (q - start)


def _magnification(motion: float, picture: float) -> float:
    """1, 2, 5, 10, ...: by how much a motion must be enlarged to be seen in a picture of this size."""
    if not 0.0 < motion < _SEEN * picture:
        return 1.0
    wanted = _VISIBLE * picture / motion
    unit = 10.0 ** math.floor(math.log10(wanted))
    return unit * max(k for k in (1.0, 2.0, 5.0) if k * unit <= wanted)


def touching(model: Model, futures: Sequence[Trajectory]) -> tuple[list[Array], list[int]]:
    """The gaps of each future, (T, nc) m, and the contacts that are both open and closed in them."""
    gaps = [np.array([model.gaps(q) for q in one.q]) for one in futures]
    low, high = (np.array([take(g, axis=0) for g in gaps]) for take in (np.min, np.max))
    moving = (low.min(axis=0) < _TOUCHED) & (high.max(axis=0) > _TOUCHED)
    return gaps, np.flatnonzero(moving).tolist()


def draw_gaps(
    ax: style.Axes,
    model: Model,
    futures: Sequence[Trajectory],
    gaps: list[Array],
    contacts: list[int],
    columns: int = 9,
) -> None:
    """The distance of each contact over time, a line per future; names in so many columns."""
    for k, c in enumerate(contacts):
        color = style.CYCLE[k % len(style.CYCLE)]
        for j, (one, gap) in enumerate(zip(futures, gaps, strict=True)):
            width, alpha = (0.8, 0.5) if j else (1.4, 1.0)
            label = None if j else for_matplotlib(model.contacts[c].name)
            ax.plot(one.t, 1e3 * gap[:, c], color=color, linewidth=width, alpha=alpha, label=label)
    ends = futures[0].t[0], max(one.t[-1] for one in futures)
    ax.set(xlim=ends, ylim=(0.0, None), xlabel="time (s)", ylabel="gap (mm)")
    if len(contacts) <= len(style.CYCLE):
        place: style.Look = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.97), "borderaxespad": 0.0}
        ax.legend(**place, ncols=min(len(contacts), columns))


class _Stage:
    """The picture that every frame is drawn into: axes that hold the whole motion, and the panel of gaps."""

    def __init__(
        self, model: Drawn, futures: list[Trajectory], width: int, title: str, magnify: float | None
    ) -> None:
        seen = [q for one in futures for q in one.q[:: max(len(one) // 60, 1)]]
        start = futures[0].q[0]
        gaps, touched = touching(model, futures)
        panel = _PANEL if touched and width >= 300 else 0.0
        wide = width / 100
        fig, axes = style.figure(1, 1, width=wide, height=wide)
        ax: style.Axes = axes[0]
        frame(ax, model, seen, pad=MARGIN)
        if isinstance(model, SpatialModel):
            magnify = 1.0
        elif magnify is None:
            motion = max(float(np.abs(q - start).max()) for q in seen)
            magnify = _magnification(motion, float(np.ptp(ax.get_ylim())))
        if magnify != 1.0:
            frame(ax, model, [_magnified(q, start, magnify) for q in seen], pad=MARGIN)
        across, up = float(np.ptp(ax.get_xlim())), float(np.ptp(ax.get_ylim()))
        tall = min(max(wide * up / across, 0.4 * wide), wide)
        middle = float(np.mean(ax.get_xlim()))
        half = 0.5 * max(across, up * wide / tall)  # the ground reaches both sides of the picture
        ax.set_xlim(middle - half, middle + half)
        low, high = ax.get_ylim()
        room = max(2.0 * half * tall / wide - up, 0.0)  # of flat scenes, above and below
        ax.set_ylim(low - 0.3 * room, high + 0.7 * room)
        if isinstance(model, PlanarModel):
            draw_planes(ax, model)
        tall += panel
        tall = 2 * round(50 * tall) / 100  # encoders want even numbers of pixels
        fig.set_layout_engine("none")
        fig.set_size_inches(wide, tall)
        fig.set_dpi(100)
        ax.set_position((0.0, panel / tall, 1.0, 1.0 - panel / tall))
        self.cursor: style.Line2D | None = None  # the present time, in the panel of gaps
        if panel:
            below = fig.add_axes((0.6 / wide, 0.42 / tall, 1.0 - 0.8 / wide, (panel - 0.7) / tall))
            draw_gaps(below, model, futures, gaps, touched)
            self.cursor = below.axvline(futures[0].t[0], color=style.BLACK, linewidth=0.9, clip_on=False)
        self.fig, self.ax, self.model, self.futures = fig, ax, model, futures
        self.title, self.magnify = title, magnify

    def frames(self, times: Array) -> Iterator[np.ndarray]:
        """The pictures one by one, (h, w, 3) uint8."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas = FigureCanvasAgg(self.fig)
        for t in times:
            artists = self._draw(float(t))
            canvas.draw()
            yield np.array(canvas.buffer_rgba())[:, :, :3]
            for artist in artists:
                artist.remove()

    def _draw(self, t: float) -> list[style.Artist]:
        """Draw all futures at one time; the artists, so that they can be removed."""
        ax = self.ax
        before = {*ax.lines, *ax.patches, *ax.texts}
        for k, one in enumerate(self.futures):
            q = np.array([np.interp(t, one.t, column) for column in one.q.T])
            shown = _magnified(q, self.futures[0].q[0], self.magnify)
            look: style.Look = {"ghost": True, "color": style.SET, "zorder": 4.0} if k else {}
            draw_bodies(ax, self.model, shown, **look)
        words = f"{for_matplotlib(self.title)}  t = {t:.3f} s".strip()
        if self.magnify != 1.0:
            words += f"  motion drawn {self.magnify:g} times as large"
        ax.text(0.02, 0.98, words, transform=ax.transAxes, va="top", fontsize=9)
        if self.cursor is not None:
            self.cursor.set_xdata([t, t])
        return [artist for artist in (*ax.lines, *ax.patches, *ax.texts) if artist not in before]
