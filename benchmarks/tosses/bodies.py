"""The bodies that were tossed: their poses, what flight conserves of them, and their corners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar

import numpy as np

from routh.identification import TossedBox, TossedModel
from routh.models import planar
from routh.models.rotations import exponential, multiply, rotation_matrices

GRAVITY = 9.81
SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


@dataclass(frozen=True)
class Tracking:
    """What counts as an impact in tracked poses; velocities of intervals between frames in m/s."""

    disturbed: float  # change from one interval to the next that is no jitter
    longest: int  # intervals that an impact may spread over
    before: tuple[int, int]  # fewest and most quiet intervals that the velocity before is averaged over
    after: tuple[int, int]
    steady: float  # largest scatter within them
    falling: float = 4.0  # m/s^2: how far the acceleration of flight may seem to be from gravity
    smallest: float = 0.1  # change of velocity that counts as an impact


class Body(ABC):
    """A tossed body; q (n, nq) are its configurations, v (nv,) its velocities, as MuJoCo has them."""

    name: str
    tracking: Tracking
    classes: int  # of impacts by corners: 1, 2, ..., this many or more
    arm: float  # m: turns angular momentum over mass into m/s of about equal kinetic energy
    nominal: Mapping[str, float]  # geometry and inertia as they came with the data
    parameters: Mapping[str, tuple[float, float]]  # what is fitted, with ranges
    start: Mapping[str, float]
    within: tuple[float, ...]  # m: choices of how near to the lowest corner others take part,
    soon: tuple[float, ...]  # s: or how soon they are as low
    flat = 0.012  # m: corners within this of the lowest one make the class of an impact
    vertical = 2  # the place of the height in q

    @abstractmethod
    def configurations(self, data: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n, nq) from the arrays of a file."""

    @abstractmethod
    def flow(self, q: np.ndarray, dt: float) -> np.ndarray:
        """Velocity of the centre of mass and angular momentum over mass and arm, of intervals, (n - 1, 6)."""

    @abstractmethod
    def rates(self, q: np.ndarray, dt: float) -> np.ndarray:
        """Of the joints in the intervals, (n - 1, joints) rad/s."""

    @abstractmethod
    def velocity(self, q: np.ndarray, flow: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """(nv,) at one configuration."""

    @abstractmethod
    def carry(self, q: np.ndarray, v: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Free flight from one configuration, (k, nq)."""

    @abstractmethod
    def points(self, q: np.ndarray) -> np.ndarray:
        """The sharp corners in the world, (n, corners, 3) m."""

    @abstractmethod
    def problems(
        self, q: np.ndarray, before: np.ndarray, within: float, soon: float
    ) -> Callable[[Mapping[str, float]], Any]:
        """The impacts at (n, nq) with velocities (n, nv), as a function of the parameters."""

    def heading(self, momentum: np.ndarray) -> np.ndarray:
        """Horizontal momentum (n, 2) from that of the coordinates (n, nv)."""
        return momentum[:, :2]

    def seen(self, q: np.ndarray, ahead: np.ndarray, side: np.ndarray) -> np.ndarray:
        """(n, nv, nv): velocities in frames with a horizontal direction (n, 2), mirrored by signs (n,)."""
        nv = 6 + self.rates(q[:1].repeat(2, axis=0), 1.0).shape[1]
        frame = np.zeros((len(q), 3, 3))
        frame[:, 0, :2], frame[:, 2, 2] = ahead, 1.0
        frame[:, 1, 0], frame[:, 1, 1] = -side * ahead[:, 1], side * ahead[:, 0]
        found = np.zeros((len(q), nv, nv))
        found[:, :3, :3] = frame
        found[:, 3:6, 3:6] = side[:, None, None] * frame @ rotation_matrices(q[:, 3:7])  # axial
        found[:, np.arange(6, nv), np.arange(6, nv)] = side[:, None]  # hinges turn the other way in a mirror
        return found

    @abstractmethod
    def mjcf(self, mu: float, timeconst: float, dampratio: float) -> str:
        """The body over a plane for MuJoCo's own contact, without gravity."""


def _rigid(pose: np.ndarray, v: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turned quaternions (k, 4) and rotation matrices of a body with a constant angular velocity v[3:6]."""
    spin = rotation_matrices(pose[None])[0] @ v[3:6]
    q = multiply(exponential(times[:, None] * spin), np.broadcast_to(pose, (len(times), 4)))
    return q, rotation_matrices(q)


def turned(q: np.ndarray) -> np.ndarray:
    """Rotation vectors (n - 1, 3) rad, in the world, from each quaternion (n, 4) to the next."""
    back = q[:-1] * np.array([1.0, -1.0, -1.0, -1.0])
    step = multiply(q[1:], back)
    step = np.where(step[:, :1] < 0.0, -step, step)
    length = np.linalg.norm(step[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(length, step[:, :1])
    return step[:, 1:] * np.where(length > 1e-12, angle / np.maximum(length, 1e-12), 2.0)


class Cube(Body):
    """An acrylic cube (ContactNets): q is position and quaternion."""

    name, classes = "cube", 4
    SIDE, MASS, INERTIA = 0.1048, 0.37, 0.00081  # m, kg, kg m^2
    arm = float(np.sqrt(INERTIA / MASS))
    tracking = Tracking(0.08, 4, (4, 4), (3, 3), 0.05)
    nominal: ClassVar = {"inertia": 1.0, "rounding": 0.0}
    parameters: ClassVar = {
        "mu": (0.05, 0.4),
        "restitution": (0.05, 0.7),
        "inertia": (0.7, 1.8),  # of the value that comes with the data
        "rounding": (0.0, 0.02),  # m
    }
    start: ClassVar = {"mu": 0.2, "restitution": 0.3, "inertia": 1.2, "rounding": 0.005}
    within, soon = (0.002, 0.004, 0.006), (0.010, 0.012, 0.014, 0.016)

    def configurations(self, data: Mapping[str, np.ndarray]) -> np.ndarray:
        """See `Body`."""
        return np.column_stack([data["position"], data["quaternion"]])

    def flow(self, q: np.ndarray, dt: float) -> np.ndarray:
        """See `Body`."""
        return np.column_stack([np.diff(q[:, :3], axis=0), self.arm * turned(q[:, 3:])]) / dt

    def rates(self, q: np.ndarray, dt: float) -> np.ndarray:
        """See `Body`."""
        return np.zeros((len(q) - 1, 0))

    def velocity(self, q: np.ndarray, flow: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """See `Body`."""
        return np.concatenate([flow[:3], rotation_matrices(q[None, 3:])[0].T @ flow[3:] / self.arm])

    def carry(self, q: np.ndarray, v: np.ndarray, times: np.ndarray) -> np.ndarray:
        """See `Body`."""
        x = q[:3] + times[:, None] * v[:3]
        x[:, 2] -= 0.5 * GRAVITY * times**2
        return np.column_stack([x, _rigid(q[3:], v, times)[0]])

    def points(self, q: np.ndarray) -> np.ndarray:
        """See `Body`."""
        return q[:, None, :3] + np.einsum("nij,kj->nki", rotation_matrices(q[:, 3:]), SIGNS * self.SIDE / 2)

    def problems(self, q: np.ndarray, before: np.ndarray, within: float, soon: float) -> TossedBox:
        """See `Body`."""
        side, inertia = np.full(3, self.SIDE), np.full(3, self.INERTIA)
        known = {"mass": self.MASS, "mu": 0.2}
        return TossedBox(side, rotation_matrices(q[:, 3:]), before, inertia, within, soon, known)

    def mjcf(self, mu: float, timeconst: float, dampratio: float) -> str:
        """See `Body`."""
        half, inertia = self.SIDE / 2, self.INERTIA
        return _over_plane(
            f"""<body><freejoint/><inertial pos="0 0 0" mass="{self.MASS}" diaginertia="{inertia} {inertia}
            {inertia}"/><geom type="box" size="{half} {half} {half}"/></body>""",
            mu,
            timeconst,
            dampratio,
        )


class Elbow(Body):
    """Two acrylic boxes on a hinge (dair_pll): q is position and quaternion of link 1, and the hinge."""

    name, classes = "elbow", 3
    SIZE, MASS = np.array([0.1, 0.05, 0.05]), 1.0  # m, and kg of a link; only ratios of masses count
    HINGE, ARM = np.array([-0.035, 0.06, 0.0]), np.array([0.035, 0.0, 0.0])  # to the hinge, and on to link 2
    INERTIA = MASS * (np.sum(SIZE**2) - SIZE**2) / 12  # of uniform boxes
    FACTOR = 1.2  # of it, where momenta are measured
    arm = 0.06
    tracking = Tracking(0.15, 5, (4, 8), (3, 6), 0.15)
    nominal: ClassVar = {"inertia": FACTOR, "rounding": 0.0}
    parameters: ClassVar = {
        "mu": (0.02, 0.6),
        "restitution": (0.02, 0.7),
        "inertia": (0.8, 1.8),  # of uniform boxes
        "rounding": (0.0, 0.015),  # m
        "joint_friction": (0.0, 0.05),  # N m s, for links of 1 kg
    }
    start: ClassVar = {
        "mu": 0.2,
        "restitution": 0.3,
        "inertia": 1.2,
        "rounding": 0.003,
        "joint_friction": 0.001,
    }
    within, soon = (0.002, 0.006, 0.010), (0.012, 0.016, 0.020, 0.024)

    def configurations(self, data: Mapping[str, np.ndarray]) -> np.ndarray:
        """See `Body`."""
        return np.column_stack([data["position"], data["quaternion"], data["hinge"]])

    def _links(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rotations of both links, and the way from the centre of link 1 to that of link 2."""
        R1, c, s = rotation_matrices(q[:, 3:7]), np.cos(q[:, 7]), np.sin(q[:, 7])
        turn = np.zeros((len(q), 3, 3))
        turn[:, 0, 0], turn[:, 0, 2], turn[:, 1, 1], turn[:, 2, 0], turn[:, 2, 2] = c, s, 1.0, -s, c
        R2 = R1 @ turn
        return R1, R2, R1 @ self.HINGE + R2 @ self.ARM, R2 @ self.ARM

    def _spinning(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3, 3) and (n, 3): angular momentum by angular velocity of link 1 (world) and hinge rate."""
        R1, R2, way, lever = self._links(q)
        own = self.FACTOR * np.diag(self.INERTIA)
        first, second = (R @ own @ np.swapaxes(R, 1, 2) for R in (R1, R2))
        axis = R1[:, :, 1]
        lengths = (way**2).sum(axis=1)[:, None, None] * np.eye(3) - way[:, :, None] * way[:, None]
        hinged = np.cross(way, np.cross(axis, lever))  # link 2 about the hinge
        half = 0.5 * self.MASS
        return first + second + half * lengths, (second @ axis[:, :, None])[:, :, 0] + half * hinged

    def flow(self, q: np.ndarray, dt: float) -> np.ndarray:
        """See `Body`."""
        _, _, way, _ = self._links(q)
        spin = turned(q[:, 3:7]) / dt
        by_spin, by_hinge = self._spinning(q)
        by_spin, by_hinge = (0.5 * (part[1:] + part[:-1]) for part in (by_spin, by_hinge))
        momentum = (by_spin @ spin[:, :, None])[:, :, 0] + by_hinge * self.rates(q, dt)
        centre = q[:, :3] + 0.5 * way
        return np.column_stack([np.diff(centre, axis=0) / dt, momentum / (2 * self.MASS * self.arm)])

    def rates(self, q: np.ndarray, dt: float) -> np.ndarray:
        """See `Body`."""
        return (np.mod(np.diff(q[:, 7:], axis=0) + np.pi, 2 * np.pi) - np.pi) / dt

    def velocity(self, q: np.ndarray, flow: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """See `Body`."""
        R1, _, way, lever = (part[0] for part in self._links(q[None]))
        by_spin, by_hinge = (part[0] for part in self._spinning(q[None]))
        spin = np.linalg.solve(by_spin, 2 * self.MASS * self.arm * flow[3:] - by_hinge * rates[0])
        moves = np.cross(spin, way) + rates[0] * np.cross(R1[:, 1], lever)  # link 2 against link 1
        return np.concatenate([flow[:3] - 0.5 * moves, R1.T @ spin, rates])

    def carry(self, q: np.ndarray, v: np.ndarray, times: np.ndarray) -> np.ndarray:
        """See `Body`."""
        R1, _, way, lever = (part[0] for part in self._links(q[None]))
        moves = np.cross(R1 @ v[3:6], way) + v[6] * np.cross(R1[:, 1], lever)
        centre = q[:3] + 0.5 * way + times[:, None] * (v[:3] + 0.5 * moves)
        centre[:, 2] -= 0.5 * GRAVITY * times**2
        pose = np.column_stack([centre, _rigid(q[3:7], v, times)[0], q[7] + times * v[6]])
        pose[:, :3] -= 0.5 * self._links(pose)[2]
        return pose

    def points(self, q: np.ndarray) -> np.ndarray:
        """See `Body`."""
        R1, R2, way, _ = self._links(q)
        corners = SIGNS * self.SIZE / 2
        first, second = (np.einsum("nij,kj->nki", R, corners) for R in (R1, R2))
        return q[:, None, :3] + np.concatenate([first, way[:, None] + second], axis=1)

    def problems(self, q: np.ndarray, before: np.ndarray, within: float, soon: float) -> TossedModel:
        """See `Body`."""
        known = {**self.nominal, "mu": 0.2}
        return TossedModel(self.model, q, before, within, soon, known, joints=[6])

    def model(self, values: Mapping[str, float]) -> Any:
        """The library's model of it, with rounded corners and an inertia of its own."""
        return _elbow_model(values["inertia"], values["rounding"])

    def xml(self, inertia: float, geoms: Callable[[int], str]) -> str:
        """Both links, with the shapes that a function gives."""
        own = " ".join(f"{x:.9g}" for x in inertia * self.INERTIA)
        mass = f'<inertial pos="0 0 0" mass="{self.MASS}" diaginertia="{own}"/>'
        shift = " ".join(f"{x:g}" for x in self.HINGE + self.ARM)
        axis = " ".join(f"{x:g}" for x in -self.ARM)
        return f"""<body name="link1"><freejoint/>{mass}{geoms(1)}<body name="link2" pos="{shift}">
        <joint name="hinge" pos="{axis}" axis="0 1 0"/>{mass}{geoms(2)}</body></body>"""

    def mjcf(self, mu: float, timeconst: float, dampratio: float) -> str:
        """See `Body`."""
        half = " ".join(f"{x / 2:g}" for x in self.SIZE)
        links = self.xml(self.FACTOR, lambda k: f'<geom type="box" size="{half}"/>')
        return _over_plane(links, mu, timeconst, dampratio)


class Square(Body):
    """A square that was tossed in a vertical plane (Fazeli): q is x, height and angle of its middle."""

    name, classes, flat, vertical = "square", 2, 0.006, 1
    SIDE, MASS = 0.06, 1.0  # m, and kg; only ratios of masses count
    INERTIA = MASS * SIDE**2 / 6  # of a uniform square
    OFFSET = -0.0332  # rad: what the tracked angle is, up to right angles, where it lies flat: their median
    arm = 0.0234  # m: the radius of gyration, by the angular momentum about the corner that hits
    tracking = Tracking(0.15, 4, (4, 6), (4, 6), 0.08, 6.0, 0.3)
    nominal: ClassVar = {"inertia": 1.0, "rounding": 0.0}
    parameters: ClassVar = {
        "mu": (0.02, 0.5),
        "restitution": (0.05, 0.8),
        "inertia": (0.6, 1.4),  # of a uniform square
        "rounding": (0.0, 0.006),  # m
    }
    start: ClassVar = {"mu": 0.15, "restitution": 0.4, "inertia": 0.92, "rounding": 0.001}
    within, soon = (0.001, 0.002, 0.004), (0.004, 0.008, 0.012, 0.016)

    def configurations(self, data: Mapping[str, np.ndarray]) -> np.ndarray:
        """See `Body`."""
        return np.column_stack([data["position"], data["angle"] - self.OFFSET])

    def flow(self, q: np.ndarray, dt: float) -> np.ndarray:
        """See `Body`."""
        moving = np.zeros((len(q) - 1, 6))
        moving[:, [0, 2, 4]] = np.diff(q, axis=0) / dt * [1.0, 1.0, self.arm]
        return moving

    def rates(self, q: np.ndarray, dt: float) -> np.ndarray:
        """See `Body`."""
        return np.zeros((len(q) - 1, 0))

    def velocity(self, q: np.ndarray, flow: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """See `Body`."""
        return flow[[0, 2, 4]] / [1.0, 1.0, self.arm]

    def carry(self, q: np.ndarray, v: np.ndarray, times: np.ndarray) -> np.ndarray:
        """See `Body`."""
        path = q + times[:, None] * v
        path[:, 1] -= 0.5 * GRAVITY * times**2
        return path

    def points(self, q: np.ndarray) -> np.ndarray:
        """See `Body`."""
        corners = np.array(planar.corners(self.SIDE, self.SIDE)) @ [1.0, 1.0j]
        places = q[:, :1] + 1j * q[:, 1:2] + np.exp(1j * q[:, 2:]) * corners
        return np.stack([places.real, np.zeros_like(places.real), places.imag], axis=-1)

    def problems(self, q: np.ndarray, before: np.ndarray, within: float, soon: float) -> TossedModel:
        """See `Body`."""
        known = {**self.nominal, "mu": 0.15}
        return TossedModel(self.model, q, before, within, soon, known)

    def model(self, values: Mapping[str, float]) -> planar.PlanarModel:
        """The library's model of it, with rounded corners and an inertia of its own."""
        side, radius = self.SIDE, values["rounding"]
        square = planar.box("square", side, side, mass=self.MASS, inertia=values["inertia"] * self.INERTIA)
        places = planar.corners(side - 2 * radius, side - 2 * radius)
        contacts = [
            planar.PlaneContact(f"corner{k}", "square", point=place, radius=radius)
            for k, place in enumerate(places)
        ]
        return planar.PlanarModel([square], contacts)

    def heading(self, momentum: np.ndarray) -> np.ndarray:
        """See `Body`."""
        return momentum[:, :1] * [1.0, 0.0]

    def seen(self, q: np.ndarray, ahead: np.ndarray, side: np.ndarray) -> np.ndarray:
        """See `Body`; ahead is to the right or to the left."""
        way = np.where(ahead[:, 0] < 0.0, -1.0, 1.0) * side
        return np.stack([way, np.ones(len(q)), way], axis=1)[:, :, None] * np.eye(3)

    def mjcf(self, mu: float, timeconst: float, dampratio: float) -> str:
        """See `Body`."""
        half, inertia = self.SIDE / 2, self.INERTIA
        return _over_plane(
            f"""<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
            <joint type="hinge" axis="0 -1 0"/><inertial pos="0 0 0" mass="{self.MASS}"
            diaginertia="{inertia} {inertia} {inertia}"/><geom type="box"
            size="{half} {half} {half}"/></body>""",
            mu,
            timeconst,
            dampratio,
        )


def _over_plane(bodies: str, mu: float, timeconst: float, dampratio: float) -> str:
    return f"""<mujoco><option timestep="5e-4" gravity="0 0 0" cone="elliptic" impratio="10"/>
    <default><geom friction="{mu} 0 0" condim="3" solref="{timeconst} {dampratio}"/></default>
    <worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>"""


@lru_cache(maxsize=64)
def _elbow_model(inertia: float, rounding: float) -> Any:
    import mujoco

    from routh.models.mujoco import MujocoModel

    body, radius = Elbow(), max(rounding, 1e-6)  # MuJoCo's spheres have a size

    def corners(link: int) -> str:
        places = SIGNS * (body.SIZE / 2 - radius)
        return "".join(
            f'<geom name="link{link}_{k}" size="{radius:.9g}" pos="{x:.9g} {y:.9g} {z:.9g}"/>'
            for k, (x, y, z) in enumerate(places)
        )

    text = f"""<mujoco><worldbody><geom name="table" type="plane" size="5 5 1"/>
    {body.xml(inertia, corners)}</worldbody></mujoco>"""
    return MujocoModel(mujoco.MjModel.from_xml_string(text), self_contacts=False)


BODIES = {body.name: body for body in (Cube(), Elbow(), Square())}
