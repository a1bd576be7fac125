"""Films of robots that land: MuJoCo's own motion in full, the outcomes of the impact as ghosts beside it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from routh.models.mujoco.engine import engine
from routh.text import for_terminal
from routh.validation import Array
from routh.viz import style
from routh.viz.offscreen import Offscreen

if TYPE_CHECKING:
    from mujoco import MjData, MjModel, MjvCamera, MjvScene

_BODY = (0.30, 0.34, 0.40)  # of shapes whose file gives them no colour
_GROUND = (0.90, 0.91, 0.93)
_OPACITY = 0.8, 0.14, 0.4  # of all ghosts together; of each at least, at most
_PLAIN = (0.5, 0.5, 0.5)  # MuJoCo's colour of shapes without one


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
    view: tuple[float, float] = (130.0, -18.0)  # azimuth and elevation, deg
    zoom: float = 1.0


def frames(film: Film) -> Iterator[np.ndarray]:
    """The pictures one by one, (h, w, 3) uint8."""
    mujoco, model = engine(), _lit(film.model)
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


def _lit(model: MjModel) -> MjModel:
    """A copy with an even light."""
    own = copy.copy(model)
    own.vis.headlight.ambient[:] = 0.7
    own.vis.headlight.diffuse[:] = 0.45
    own.vis.headlight.specular[:] = 0.1
    return own


def _pose(model: MjModel, data: MjData, q: Array) -> None:
    data.qpos[:] = q
    engine().mj_kinematics(model, data)
    engine().mj_comPos(model, data)
    engine().mj_camlight(model, data)


def _camera(film: Film, model: MjModel, data: MjData) -> MjvCamera:
    """A camera that has the robot and its ghosts in view the whole time."""
    moving = np.flatnonzero(np.asarray(model.body_weldid)[np.asarray(model.geom_bodyid)] != 0)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    shown = [film.q[0], film.q[-1], *film.ghosts.q[-1], *film.ghosts.q[len(film.t) // 2]]
    for q in shown:
        _pose(model, data, q)
        reach = np.minimum(np.asarray(model.geom_rbound)[moving], 2.0)[:, None]
        low = np.minimum(low, (data.geom_xpos[moving] - reach).min(axis=0))
        high = np.maximum(high, (data.geom_xpos[moving] + reach).max(axis=0))
    camera = engine().MjvCamera()
    camera.type = engine().mjtCamera.mjCAMERA_FREE.value
    camera.lookat[:] = 0.5 * (low + high)
    half = 0.5 * float(np.linalg.norm(high - low))
    camera.distance = half / np.tan(np.deg2rad(0.5 * float(model.vis.global_.fovy))) / film.zoom
    camera.azimuth, camera.elevation = film.view
    return camera


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
    if t >= 0.0:
        lines.append((f"solid: {film.solid}", _BODY))
        lines += [(for_terminal(name), _color(k)) for k, name in enumerate(film.ghosts.names)]
    wide = max(draw.textlength(text, font=font) for text, _ in lines)
    draw.rectangle((6, 6, 18 + wide, 14 + 18 * len(lines)), fill=(255, 255, 255, 200))
    for row, (text, color) in enumerate(lines):
        ink = tuple(round(255 * share) for share in color)
        draw.text((12, 9 + 18 * row), text, fill=ink, font=font)
    return np.asarray(picture)
