"""The scenes of the kit, and what is known of each before any engine is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from routh.testkit.scene import ImpactScene, SceneBody, Shape, Triple, touching

if TYPE_CHECKING:
    from routh.base.validation import Array

RADIUS = 0.05  # m, of the balls
FEET = ((0.2, 0.2), (0.2, -0.2), (-0.2, 0.2), (-0.2, -0.2))  # m, of examples/lander.xml


@dataclass(frozen=True)
class KnownScene:
    """A scene, a sentence about it, and what must come out where that is known."""

    scene: ImpactScene
    about: str
    outcome: tuple[tuple[float, ...], ...] | None = None  # (bodies, 6), where there is only one
    rebound: float | None = None  # share of the approach with which every contact has to separate

    @property
    def name(self) -> str:
        """The scene's name."""
        return self.scene.name

    @property
    def only(self) -> Array | None:
        """The only outcome (bodies, 6), or None."""
        return None if self.outcome is None else np.array(self.outcome)


def heading(down: float, sideways: float, angle: float) -> Triple:
    """Velocity of a body that comes down and drifts towards ``angle`` (rad)."""
    return (float(sideways * np.cos(angle)), float(sideways * np.sin(angle)), -down)


def ball(pos: Triple, v: Triple = (0.0, 0.0, 0.0)) -> SceneBody:
    """A solid ball of 1 kg."""
    moment = 0.4 * RADIUS**2
    return SceneBody(1.0, (moment,) * 3, (Shape("sphere", (RADIUS,)),), pos, v=v)


def box(name: str, half: Triple, v: Triple, *, tilt: float = 0.0, mu: float = 0.5) -> ImpactScene:
    """A box of 1 kg, tilted about an axis in the ground, with its lowest corner on the ground."""
    axis = (0.8 * np.sin(tilt / 2), 0.6 * np.sin(tilt / 2))
    squares = np.array(half) ** 2
    x, y, z = (squares.sum() - squares) / 3.0
    quat = (float(np.cos(tilt / 2)), float(axis[0]), float(axis[1]), 0.0)
    body = SceneBody(1.0, (float(x), float(y), float(z)), (Shape("box", half),), (0.0, 0.0, half[2]), quat, v)
    return touching(ImpactScene(name, (body,), mu))


def legged(
    name: str,
    v: Triple,
    *,
    mu: float = 0.8,
    feet: Sequence[tuple[float, float]] = FEET,
    heights: Sequence[float] | None = None,
    frictions: Sequence[float] | None = None,
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0),
    w: Triple = (0.0, 0.0, 0.0),
    gravity: float = 0.0,
    restitution: float = 0.0,
) -> ImpactScene:
    """A rigid body of 5 kg on small feet, as in examples/lander.xml; feet of unequal heights if told."""
    above = [0.0] * len(feet) if heights is None else heights
    own = [None] * len(feet) if frictions is None else frictions
    shapes = tuple(
        Shape("sphere", (0.02,), (x, y, -0.53 + h), m) for (x, y), h, m in zip(feet, above, own, strict=True)
    )
    body = SceneBody(5.0, (0.3125,) * 3, shapes, (0.0, 0.0, 0.55), quat, v, w)
    return touching(ImpactScene(name, (body,), mu, restitution, gravity=gravity))


def row(name: str, restitution: float) -> ImpactScene:
    """Three balls in a row, the first of which hits the other two."""
    balls = tuple(ball((2 * RADIUS * k, 0.0, 0.0), (1.0 if k == 0 else 0.0, 0.0, 0.0)) for k in range(3))
    return ImpactScene(name, balls, 0.5, restitution, ground=False)


def dropped(feet: int) -> KnownScene:
    """A body on 1 to 4 feet that comes straight down with restitution a half."""
    angles = 2 * np.pi * (np.arange(feet) + 0.5) / feet
    radius = 0.0 if feet == 1 else 0.2 * np.sqrt(2.0)
    places = [(float(radius * np.cos(a)), float(radius * np.sin(a))) for a in angles]
    scene = legged(f"rebound of {feet}", (0.0, 0.0, -1.0), feet=places, restitution=0.5)
    about = f"{feet} feet, straight down, restitution 0.5: every foot leaves with half its approach"
    return KnownScene(scene, about, rebound=0.5)


@cache
def scenes() -> dict[str, KnownScene]:
    """All scenes of the kit, by name."""
    still = (0.0,) * 6
    third = (1.0 / 3.0, *still[1:])
    # slip stops at 5/7 of the speed: the ball rolls, for that takes less friction than there is
    rolls = (0.5 * 5 / 7, 0.0, 0.0, 0.0, 0.5 * 5 / 7 / RADIUS, 0.0)
    reach = 2 * RADIUS * np.cos(np.pi / 6)
    rack = (
        ball((-float(reach), 0.0, 0.0), (1.0, 0.0, 0.0)),
        ball((0.0, RADIUS, 0.0)),
        ball((0.0, -RADIUS, 0.0)),
    )
    stack = tuple(ball((0.0, 0.0, RADIUS * (1 + 2 * k)), (0.3, 0.0, -1.0)) for k in range(3))
    lander = legged("lander", heading(1.5, 0.8, 0.4))
    straight = legged("lander, straight", (0.0, 0.0, -1.5))
    slides = legged("four feet slide", heading(1.0, 1.5, 0.3), mu=0.3)
    block = box("block", (0.1, 0.1, 0.2), (0.5, 0.0, -1.0))
    cube = box("cube", (0.05,) * 3, heading(1.0, 0.5, 0.4), tilt=0.005)
    known = [
        KnownScene(
            ImpactScene("ball", (ball((0.0, 0.0, RADIUS), (0.5, 0.0, -1.0)),)),
            "one ball, one contact: it stays down and rolls",
            (rolls,),
        ),
        KnownScene(block, "a tall block falls flat on four corners, sliding: it may rest or rock"),
        KnownScene(cube, "a cube lands 0.3 degrees from flat"),
        KnownScene(lander, "four feet touch at once, 1.5 m/s down, 0.8 m/s sideways"),
        KnownScene(straight, "the same, straight down: rest is only one of its outcomes"),
        KnownScene(
            slides, "four feet with friction 0.3, one more than can be told apart: friction has to act"
        ),
        KnownScene(row("row", 0.0), "three balls in a row, without restitution", (third,) * 3),
        KnownScene(row("cradle", 1.0), "Newton's cradle: restitution 1"),
        KnownScene(ImpactScene("stack", stack), "three balls, one on the other, hit the ground"),
        KnownScene(ImpactScene("break", rack, ground=False), "a ball between two that touch"),
        *(dropped(feet) for feet in (1, 2, 3, 4)),
    ]
    return {one.name: one for one in known}
