"""Frames of pixels as a film: GIF, MP4 or a folder of PNG files."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np

from routh.status import RouthError, optional
from routh.storage import write_bytes

MOST_FRAMES = 2000


class MissingEncoderError(RouthError):
    """There is no program that can write the video; the message says what to do."""


def film_kind(path: str | Path) -> str:
    """What a path asks for: "gif", "mp4" or "frames"; refuses what cannot be written."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix == "":
        return "frames"
    if suffix not in (".gif", ".mp4"):
        raise ValueError(f"path: got {target.name!r}; wanted .gif, .mp4, or a folder for PNG frames")
    if suffix == ".mp4":
        ffmpeg()
    return suffix[1:]


def check_frames(option: str, value: float, count: int) -> int:
    """The number of frames that an option makes, if a film may have so many."""
    if count > MOST_FRAMES:
        raise ValueError(f"{option}: got {value:g}, which makes {count} frames; wanted at most {MOST_FRAMES}")
    return count


def ffmpeg() -> str:
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


def write_frames(frames: Iterable[np.ndarray], path: str | Path, fps: int) -> Path:
    """Write frames (h, w, 3) uint8; the path's suffix says as what, none means a folder."""
    target = Path(path)
    kind = film_kind(target)
    if kind == "frames":
        target.mkdir(parents=True, exist_ok=True)
        for k, frame in enumerate(frames):
            write_bytes(target / f"frame-{k:05d}.png", png(frame))
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
    pictures = [_pillow().fromarray(np.ascontiguousarray(f)).quantize(128) for f in frames]
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
        for frame in frames:
            high, wide = (2 * (pixels // 2) for pixels in frame.shape[:2])  # encoders want even numbers
            if process is None:
                size = f"{wide}x{high}"
                words = [ffmpeg(), "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size]
                words += ["-r", str(fps), "-i", "-", "-pix_fmt", "yuv420p", "-y", str(made)]
                process = subprocess.Popen(words, stdin=subprocess.PIPE)
            assert process.stdin is not None
            process.stdin.write(frame[:high, :wide].tobytes())
        if process is None:
            raise ValueError("frames: got none; wanted at least one")
        process.communicate()
        if process.returncode:
            raise MissingEncoderError(f"ffmpeg: ended with {process.returncode}; choose a .gif or a folder")
        return write_bytes(target, made.read_bytes())
