"""MuJoCo's renderer without a screen: on the graphics card where there is one, else in software."""

from __future__ import annotations

import ctypes.util
import importlib
import os
import subprocess
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from routh.models.mujoco.engine import engine
from routh.status import RouthError

if TYPE_CHECKING:
    from mujoco import MjModel
    from mujoco.egl import GLContext  # that of other libraries has the same methods

_LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}
_PROBE = "import importlib; importlib.import_module('mujoco.{0}').GLContext(8, 8).make_current()"
MOST_GEOMS = 20_000


class NoRendererError(RouthError):
    """MuJoCo has nothing to draw with; the message says what to install."""


class Offscreen:
    """Draws scenes of one model into arrays of pixels; close it in the end."""

    def __init__(self, model: MjModel, width: int, height: int) -> None:
        mujoco = engine()
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        model.vis.quality.offsamples = min(int(model.vis.quality.offsamples), 2)
        self._gl = _context(width, height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._place = mujoco.MjrRect(0, 0, width, height)
        self.scene = mujoco.MjvScene(model, MOST_GEOMS)
        for flag in ("mjRND_SHADOW", "mjRND_REFLECTION", "mjRND_HAZE"):  # dear in software
            self.scene.flags[int(getattr(mujoco.mjtRndFlag, flag))] = 0

    def pixels(self) -> np.ndarray:
        """The scene as it is now, (height, width, 3) uint8."""
        mujoco, place = engine(), self._place
        found = np.empty((place.height, place.width, 3), dtype=np.uint8)
        mujoco.mjr_render(place, self.scene, self._context)
        mujoco.mjr_readPixels(found, None, place, self._context)
        return found[::-1]

    def close(self) -> None:
        """Give the context back."""
        self._context.free()
        self._gl.free()


def _context(width: int, height: int) -> GLContext:
    kind = backend()
    try:
        return importlib.import_module(f"mujoco.{kind}").GLContext(width, height)
    except Exception as error:  # each library fails in its own way
        raise NoRendererError(f"MUJOCO_GL: drawing with {kind!r} failed: {error}; {_advice()}") from error


@lru_cache(maxsize=1)
def backend() -> str:
    """What to draw with: ``MUJOCO_GL`` where it is set, else what works here."""
    told = os.environ.get("MUJOCO_GL", "").lower().strip()
    if told:
        return told
    if sys.platform == "darwin":
        return "cgl"
    if sys.platform != "linux":
        return "glfw"
    there = [kind for kind, library in _LIBRARIES.items() if ctypes.util.find_library(library)]
    if len(there) > 1:  # a library can be there without a driver; a second try in one process is too late
        there = [kind for kind in there if _works(kind)] or there
    if there:
        return there[0]
    if os.environ.get("DISPLAY"):
        return "glfw"
    raise NoRendererError(f"MuJoCo finds nothing to draw with; {_advice()}")


def _works(kind: str) -> bool:
    environment = {**os.environ, "MUJOCO_GL": kind, "PYOPENGL_PLATFORM": kind}
    words = [sys.executable, "-c", _PROBE.format(kind)]
    try:
        done = subprocess.run(words, env=environment, capture_output=True, timeout=60.0, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _advice() -> str:
    return "bring a renderer in software with: apt-get install libegl1 libgl1-mesa-dri, or: libosmesa6"
