"""Films of robots that land: MuJoCo's own motion in full, the outcomes of the impact as ghosts beside it.

MuJoCo's renderer draws without a screen, on the graphics card where there is one, else in software
(`Offscreen`); a `Film` says what is shown, and `frames` draws it.
"""

from __future__ import annotations

import copy
import ctypes.util
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from routh.base.status import RouthError
from routh.base.text import for_terminal
from routh.base.validation import Array
from routh.models.mujoco.engine import engine
from routh.viz import style

if TYPE_CHECKING:
    from mujoco import MjData, MjModel, MjvCamera, MjvScene
    from mujoco.egl import GLContext  # that of other libraries has the same methods

_LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}
_PROBE = "import importlib; importlib.import_module('mujoco.{0}').GLContext(8, 8).make_current()"
MOST_GEOMS = 20_000
_BODY = (0.30, 0.34, 0.40)  # of shapes whose file gives them no colour
_GROUND = (0.90, 0.91, 0.93)
_OPACITY = 0.8, 0.14, 0.4  # of all ghosts together; of each at least, at most
_VIEW = 130.0, -18.0  # azimuth and elevation of the camera, deg
_MARGIN = 1.2  # of the distance at which all of it just fits: room for the caption
_PLAIN = (0.5, 0.5, 0.5)  # MuJoCo's colour of shapes without one


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


@dataclass(frozen=True, eq=False)
class Ghosts:
    """Motions that are drawn transparent."""

    q: Array  # (k frames, n ghosts, nq)
    group: np.ndarray  # (n,) int, which colour
    names: Sequence[str] = ()  # of the groups


@dataclass(frozen=True, eq=False)
class Film:
    """What a film shows."""

    model: MjModel
    t: Array  # (k,) s
    q: Array  # (k, nq): drawn in full
    ghosts: Ghosts
    title: str = ""
    solid: str = "MuJoCo"  # what the solid robot is
    size: tuple[int, int] = (640, 480)


def frames(film: Film) -> Iterator[np.ndarray]:
    """The pictures one by one, (h, w, 3) uint8."""
    mujoco, model = engine(), copy.copy(film.model)
    light = model.vis.headlight
    light.ambient[:], light.diffuse[:], light.specular[:] = 0.7, 0.45, 0.1  # an even one
    data, others = mujoco.MjData(model), mujoco.MjData(model)
    camera = _camera(film, model, data)
    whole, least, most = _OPACITY
    opacity = float(np.clip(whole / max(len(film.ghosts.group), 1), least, most))
    with closing(Offscreen(model, *film.size)) as screen:
        for k, t in enumerate(film.t):
            _pose(model, data, film.q[k])
            _draw_solid(screen.scene, model, data, camera)
            if t >= 0.0:
                for q, group in zip(film.ghosts.q[k], film.ghosts.group, strict=True):
                    _pose(model, others, q)
                    _draw_ghost(screen.scene, model, others, (*_color(int(group)), opacity))
            yield _captioned(screen.pixels(), film, float(t))


def _pose(model: MjModel, data: MjData, q: Array) -> None:
    data.qpos[:] = q
    engine().mj_kinematics(model, data)
    engine().mj_comPos(model, data)
    engine().mj_camlight(model, data)


def _camera(film: Film, model: MjModel, data: MjData) -> MjvCamera:
    """The nearest camera in this direction that has the robot and its ghosts in view the whole time."""
    shown = [film.q[0], film.q[-1], *film.ghosts.q[-1], *film.ghosts.q[len(film.t) // 2]]
    corners = np.concatenate([_corners(model, data, q) for q in shown])
    azimuth, elevation = np.deg2rad(_VIEW)
    (east, north), (level, up) = ((np.cos(angle), np.sin(angle)) for angle in (azimuth, elevation))
    forward = np.array([level * east, level * north, up])
    right = np.array([north, -east, 0.0])
    axes = np.stack([right, np.cross(right, forward), forward])
    seen = corners @ axes.T
    middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0))
    width, height = film.size
    tangent = np.tan(np.deg2rad(0.5 * float(model.vis.global_.fovy))) * np.array([width / height, 1.0])
    for _ in range(8):  # what is near looks larger: its middle in the picture is found step by step
        across, depth = (seen - middle)[:, :2], (seen - middle)[:, 2:]
        distance = float((np.abs(across) / tangent - depth).max())
        drawn = across / (distance + depth)
        middle[:2] += 0.5 * distance * (drawn.min(axis=0) + drawn.max(axis=0))
    camera = engine().MjvCamera()
    camera.type = engine().mjtCamera.mjCAMERA_FREE.value
    camera.lookat[:] = middle @ axes
    camera.distance = distance * _MARGIN
    camera.azimuth, camera.elevation = _VIEW
    return camera


def _corners(model: MjModel, data: MjData, q: Array) -> Array:
    """Corners of the boxes around all moving shapes in a posture, (n, 3) m."""
    _pose(model, data, q)
    moving = np.flatnonzero(np.asarray(model.body_weldid)[np.asarray(model.geom_bodyid)] != 0)
    boxes = np.asarray(model.geom_aabb)[moving]  # centre and half sizes, in the shape's frame
    signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, 8).T
    local = boxes[:, None, :3] + signs * boxes[:, None, 3:]  # (moving, 8, 3)
    turned = local @ data.geom_xmat[moving].reshape(-1, 3, 3).transpose(0, 2, 1)
    return (data.geom_xpos[moving, None] + turned).reshape(-1, 3)


def _draw_solid(scene: MjvScene, model: MjModel, data: MjData, camera: MjvCamera) -> None:
    mujoco = engine()
    every = mujoco.mjtCatBit.mjCAT_ALL.value
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, every, scene)
    static = int(mujoco.mjtCatBit.mjCAT_STATIC)
    for geom in scene.geoms[: scene.ngeom]:
        if int(geom.category) == static and geom.matid < 0:
            geom.rgba[:3] = _GROUND
        elif np.allclose(geom.rgba[:3], _PLAIN, atol=1e-3):
            geom.rgba[:3] = _BODY
        geom.reflectance = 0.0


def _draw_ghost(scene: MjvScene, model: MjModel, data: MjData, rgba: tuple[float, ...]) -> None:
    mujoco = engine()
    before, moving = scene.ngeom, mujoco.mjtCatBit.mjCAT_DYNAMIC.value
    mujoco.mjv_addGeoms(model, data, mujoco.MjvOption(), mujoco.MjvPerturb(), moving, scene)
    for geom in scene.geoms[before : scene.ngeom]:
        geom.matid = -1
        geom.rgba[:] = rgba
        geom.transparent = 1


def _color(group: int) -> tuple[float, ...]:
    return tuple(part / 255 for part in style.rgb(style.CYCLE[group % len(style.CYCLE)]))


def _captioned(pixels: np.ndarray, film: Film, t: float) -> np.ndarray:
    """The picture with time and colours explained."""
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.fromarray(np.ascontiguousarray(pixels))
    draw = ImageDraw.Draw(picture, "RGBA")
    font = ImageFont.load_default(14)
    title = f"{for_terminal(film.title)}  t = {1e3 * t:+.0f} ms".strip()
    lines: list[tuple[str, tuple[float, ...]]] = [(title, (0.08, 0.08, 0.08))]
    if t >= 0.0 and film.ghosts.names:  # alone it needs no name
        lines.append((f"solid: {film.solid}", _BODY))
        lines += [(for_terminal(name), _color(k)) for k, name in enumerate(film.ghosts.names)]
    wide = max(draw.textlength(text, font=font) for text, _ in lines)
    draw.rectangle((6, 6, 18 + wide, 14 + 18 * len(lines)), fill=(255, 255, 255, 200))
    for row, (text, color) in enumerate(lines):
        ink = tuple(round(255 * share) for share in color)
        draw.text((12, 9 + 18 * row), text, fill=ink, font=font)
    return np.asarray(picture)
