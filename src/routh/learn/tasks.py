"""Stiff touch-downs to learn on: every episode ends with an impact of several contacts.

Which of some stiff feet touches first decides what becomes of a landing, and nobody knows it beforehand. The
contacts that MuJoCo has unless told otherwise are too soft (20 ms) for that to show; these are not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from routh.base.status import MissingExtraError
from routh.base.validation import Array, integer, real
from routh.compiling.foreign import Foreign
from routh.learn.wrapper import Info, Step
from routh.models.mujoco.engine import engine

try:
    from gymnasium.envs.mujoco.mujoco_env import MujocoEnv
    from gymnasium.spaces import Box
except ImportError:
    raise MissingExtraError("gymnasium", "learn") from None

FALL = 2.0  # what a failed landing costs
_SUBSTEPS = 8  # in a time constant of the contacts


class TouchDown(MujocoEnv):
    """A robot that comes down on stiff contacts: `Lander`, `Quadruped`, or your own as a subclass.

    A subclass says how episodes begin (`start`), what an action does (`controls`), what time and action cost
    (`cost`), when it is over (`verdict`) and what is observed (``_get_obs``). ``info`` of a step has
    ``verdict`` ("" until the episode is over), ``powered`` (whether the action did anything) and ``cost``.

    Parameters
    ----------
    model : MJCF as text, or an MjModel.
    actions : how many numbers an action has.
    observations : how many numbers an observation has.
    time_constant : of all contacts, s (MuJoCo's ``solref[0]``). Eight substeps are made in this time.
    decision : s from one action to the next.
    slices : into which this time is cut; `controls` and `verdict` are asked in each.
    longest : s after which an episode is cut off.
    """

    metadata: Mapping[str, Foreign] = {"render_modes": []}

    def __init__(
        self,
        model: Foreign,
        *,
        actions: int,
        observations: int,
        time_constant: float = 0.004,
        decision: float = 0.04,
        slices: int = 1,
        longest: float = 3.0,
    ) -> None:
        # not MujocoEnv's own beginning: it wants a file, and a window to draw into
        mujoco = engine()
        real("time_constant", time_constant, above=0.0)
        self.slices = integer("slices", slices, at_least=1)
        self.longest = real("longest", longest, above=0.0)
        self.model = mujoco.MjModel.from_xml_string(model) if isinstance(model, str) else model
        for solref in (self.model.geom_solref, self.model.pair_solref):
            solref[:] = time_constant, 1.0
        self.model.opt.timestep = time_constant / _SUBSTEPS
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)  # feet may be moved
        self.data = mujoco.MjData(self.model)
        substeps = real("decision", decision, above=0.0) / slices / self.model.opt.timestep
        self.frame_skip = max(round(substeps), 1)
        self.init_qpos, self.init_qvel = np.array(self.data.qpos), np.array(self.data.qvel)
        self.action_space = Box(-1.0, 1.0, (integer("actions", actions, at_least=1),), np.float32)
        count = integer("observations", observations, at_least=1)
        self.observation_space = Box(-np.inf, np.inf, (count,), np.float64)
        self.render_mode = None
        self.spent = 0.0  # costs of this episode so far

    def start(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Position and velocity (qpos, qvel) at which an episode begins; every task has its own."""
        raise TypeError(
            f"{type(self).__name__}.start: is missing; wanted a method that says where episodes begin"
        )

    def controls(self, action: Array) -> Array:
        """The controls (ctrl) of the next slice."""
        return action

    def cost(self, action: Array) -> float:
        """Cost per second."""
        return 0.0

    def verdict(self) -> str:
        """Verdict: "" while it is not over, "stands", or in what way it failed; every task has its own."""
        raise TypeError(
            f"{type(self).__name__}.verdict: is missing; wanted a method that says how an episode went"
        )

    @property
    def powered(self) -> bool:
        """Whether actions do anything now."""
        return True

    @property
    def upright(self) -> float:
        """The cosine of the angle between the body's own up and the world's."""
        return 1.0 - 2.0 * float(self.data.qpos[4] ** 2 + self.data.qpos[5] ** 2)

    @property
    def lean(self) -> Array:
        """Lean of the body about x and y, small angles in rad, (2,)."""
        return 2.0 * self.data.qpos[4:6] * np.sign(self.data.qpos[3])

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """A new episode."""
        super(MujocoEnv, self).reset(seed=seed)
        engine().mj_resetData(self.model, self.data)
        self.spent = 0.0
        self.set_state(*self.start(self.np_random))
        return self._get_obs(), {}

    def step(self, action: Foreign) -> Step:
        """One decision; a landing that fails costs `FALL`."""
        told = np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0)
        powered, before, found = self.powered, self.spent, ""
        seconds = self.frame_skip * self.model.opt.timestep
        for _ in range(self.slices):
            self.spent += seconds * self.cost(told)
            self.do_simulation(self.controls(told), self.frame_skip)
            found = self.verdict()
            if found:
                break
        reward = before - self.spent - FALL * (found not in ("", "stands"))
        late = not found and self.data.time >= self.longest
        info: Info = {"verdict": found, "powered": powered, "cost": self.spent}
        return self._get_obs(), float(reward), bool(found), bool(late), info

    def close(self) -> None:
        """Nothing is open."""


_SPAN, _HEIGHT, _GYRATION, _FOOT = 0.2, 0.55, 0.25, 0.02  # m
_MASS, _GRAVITY = 5.0, 9.81
_THRUST, _SIDEWAYS, _TORQUE = 2.0, 0.3, 4.0  # of weight, of weight, N m


def _lander(legs: float) -> str:
    """A rigid body on four small feet, an engine below it and thrusters at the height of its middle."""
    feet = "".join(
        f'<geom name="foot{i}" type="sphere" size="{_FOOT}" contype="2" conaffinity="1" '
        f'pos="{legs * x} {legs * y} {_FOOT - legs * _HEIGHT}"/>'
        for i, (x, y) in enumerate([(_SPAN, _SPAN), (_SPAN, -_SPAN), (-_SPAN, _SPAN), (-_SPAN, -_SPAN)])
    )
    weight, moment = _MASS * _GRAVITY, _MASS * _GYRATION**2
    gears = np.diag([_SIDEWAYS * weight] * 2 + [_THRUST * weight] + [_TORQUE] * 3)
    engines = "".join(f'<motor site="middle" gear="{" ".join(map(str, row))}"/>' for row in gears)
    return f"""<mujoco>
      <size memory="1M"/>
      <option cone="elliptic" impratio="10" gravity="0 0 -{_GRAVITY}"/>
      <default>
        <geom friction="0.8 0.005 0.0001" solimp="0.95 0.99 0.001" contype="0" conaffinity="0"/>
      </default>
      <worldbody><geom name="ground" type="plane" size="5 5 1" contype="1" conaffinity="2"/>
      <body name="lander" pos="0 0 {legs * _HEIGHT}"><freejoint/><site name="middle"/>
        <inertial pos="0 0 0" mass="{_MASS}" diaginertia="{moment} {moment} {moment}"/>{feet}
      </body></worldbody>
      <actuator>{engines}</actuator></mujoco>"""


class Lander(TouchDown):
    """Bring a lander with four stiff legs down: fuel and time cost something, turning over costs more.

    An action is the engine's thrust (-1 none, 1 twice the weight) and that of the sideways thrusters. An
    autopilot holds it upright. All engines are cut when a foot touches; then it stands, or it tips over. A
    touch faster than the legs are made for counts as failed too ("crashed").

    Parameters
    ----------
    time_constant : of the contacts, s.
    legs : their length, as a share of the usual one.
    """

    HARDEST = 2.0  # m/s down that the legs are made for
    FUEL, SIDE_FUEL, TIME = 0.3, 0.35, 0.3  # costs: a second of hovering, a m/s sideways, a second

    def __init__(self, *, time_constant: float = 0.004, legs: float = 1.0) -> None:
        self._height = _HEIGHT * real("legs", legs, above=0.0)
        super().__init__(
            _lander(legs), actions=3, observations=10, time_constant=time_constant, slices=4, longest=4.0
        )
        self._feet = np.array([self.model.geom(f"foot{i}").id for i in range(4)])
        self._barrier = _GRAVITY * float(np.hypot(legs * _SPAN, self._height))  # J/kg, to stand on an edge
        self._touched: float | None = None  # s, since when
        self._fastest = 0.0

    def start(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Start some decimetres up, with sideways speed, tilted and turning a little."""
        heading, tilt = rng.uniform(-np.pi, np.pi), np.radians(2.0) * rng.normal(size=2)
        q = np.array([0, 0, self._height + rng.uniform(0.5, 0.9), 1, tilt[0] / 2, tilt[1] / 2, 0])
        q[3:] /= np.linalg.norm(q[3:])
        sideways = rng.uniform(0.6, 1.4) * np.array([np.cos(heading), np.sin(heading)])
        self._touched, self._fastest = None, 0.0
        return q, np.array([*sideways, -rng.uniform(0.5, 1.5), *(0.1 * rng.normal(size=3))])

    @property
    def powered(self) -> bool:
        """Whether no foot has touched yet."""
        return self._touched is None

    def controls(self, action: Array) -> Array:
        """Engines, and torques that hold it upright: a spring of 10 rad/s, well damped."""
        if not self.powered:
            return np.zeros(6)
        self._fastest = -float(self.data.qvel[2])
        lean = self.data.qpos[4:7] * np.sign(self.data.qpos[3])
        moment = _MASS * _GYRATION**2
        torque = moment * (-200.0 * lean * [1, 1, 0] - 16.0 * self.data.qvel[3:6])
        return np.concatenate([action[1:], [0.5 * (action[0] + 1.0)], np.clip(torque / _TORQUE, -1.0, 1.0)])

    def cost(self, action: Array) -> float:
        """Fuel by thrust, and time."""
        if not self.powered:
            return 0.0
        sideways = _SIDEWAYS * _GRAVITY * float(np.hypot(action[1], action[2]))
        return self.FUEL * _THRUST * 0.5 * float(action[0] + 1.0) + self.SIDE_FUEL * sideways + self.TIME

    def verdict(self) -> str:
        """Verdict: it stands where its energy cannot carry it over an edge any more."""
        data = self.data
        if self._touched is None:
            if self._gap() > 1e-3:
                return ""
            self._touched = float(data.time)
            return "crashed" if self._fastest > self.HARDEST else ""
        if self.upright < 0.35:
            return "tipped"
        v, w = data.qvel[:3], data.qvel[3:]
        energy = 0.5 * v @ v + 0.5 * _GYRATION**2 * (w @ w) + _GRAVITY * data.qpos[2]
        return "stands" if data.time > self._touched + 0.05 and energy < 0.999 * self._barrier else ""

    def _gap(self) -> float:
        return float(self.data.geom_xpos[self._feet, 2].min()) - _FOOT

    def _get_obs(self) -> Array:
        q, v = self.data.qpos, self.data.qvel
        touched = self._touched is not None or self._gap() < 0.005
        return np.concatenate([[q[2] - self._height], v, self.lean, [float(touched)]])


_BODY = (0.2, 0.08, 0.05)  # m, half sizes of the torso
_LINK, _KNEE = 0.18, 1.3  # m, of thigh and shank; rad, how far a knee is bent at rest
_REACH = 0.7  # rad that an action moves the aim of a joint


def _quadruped(legs: float) -> str:
    """A torso on four legs of two geared joints, whose motors' inertia and springs make them stiff."""
    x, y, z = _BODY
    link = legs * _LINK
    made = "".join(
        f'<body name="thigh{i}" pos="{a * x} {b * (y + 0.03)} 0"><joint axis="0 1 0" range="-0.6 1.9"/>'
        f'<geom type="capsule" fromto="0 0 0 0 0 {-link}" size="0.015" mass="0.6"/>'
        f'<body name="shank{i}" pos="0 0 {-link}"><joint axis="0 1 0" range="-2.4 -0.3"/>'
        f'<geom type="capsule" fromto="0 0 0 0 0 {-link}" size="0.01" mass="0.15"/>'
        f'<geom name="foot{i}" type="sphere" size="{_FOOT}" pos="0 0 {-link}" mass="0.05" '
        'contype="2" conaffinity="1"/></body></body>'
        for i, (a, b) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)])
    )
    motors = "".join(f'<position joint="j{i}" kp="120" forcerange="-40 40"/>' for i in range(8))
    for i in range(8):
        made = made.replace("<joint axis", f'<joint name="j{i}" axis', 1)
    return f"""<mujoco>
      <compiler angle="radian"/><size memory="1M"/>
      <option cone="elliptic" impratio="10" gravity="0 0 -{_GRAVITY}"/>
      <default><geom friction="0.8 0.005 0.0001" solimp="0.95 0.99 0.001" contype="0" conaffinity="0"/>
        <joint armature="0.02" damping="3"/></default>
      <worldbody><geom name="ground" type="plane" size="5 5 1" contype="1" conaffinity="2"/>
      <body name="torso" pos="0 0 1"><freejoint/>
        <geom name="torso" type="box" size="{x} {y} {z}" mass="7" contype="2" conaffinity="1"/>{made}
      </body></worldbody>
      <actuator>{motors}</actuator></mujoco>"""


class Quadruped(TouchDown):
    """Land the jump of a quadruped with stiff joints: it has to stand, and to spend little work.

    An action moves the aims of the eight joints away from those at rest. An episode begins in the air, and
    ends when the torso touches the ground or has turned over ("fell"), or when it stands.

    Parameters
    ----------
    time_constant : of the contacts, s.
    legs : their length, as a share of the usual one.
    """

    WORK, TIME = 0.001, 0.1  # costs: a joule, a second

    def __init__(self, *, time_constant: float = 0.005, legs: float = 1.0) -> None:
        real("legs", legs, above=0.0)
        super().__init__(
            _quadruped(legs), actions=8, observations=25, time_constant=time_constant, slices=2, longest=1.0
        )
        self._rest = np.tile([0.5 * _KNEE, -_KNEE], 4)
        self._up = legs * 2.0 * _LINK * np.cos(0.5 * _KNEE) + _FOOT  # m, of the torso at rest

    def start(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Start in the air, in the middle of a jump."""
        tilt = np.radians(4.0) * rng.normal(size=2)
        q = np.array([0, 0, self._up + rng.uniform(0.12, 0.25), 1, tilt[0] / 2, tilt[1] / 2, 0, *self._rest])
        q[3:7] /= np.linalg.norm(q[3:7])
        q[7:] += 0.1 * rng.normal(size=8)
        v = np.array([rng.uniform(1.0, 2.5), 0.45 * rng.normal(), -rng.uniform(0.5, 1.5)])
        return q, np.concatenate([v, 0.4 * rng.normal(size=3), np.zeros(8)])

    def controls(self, action: Array) -> Array:
        """The aims of the joints."""
        return self._rest + _REACH * action

    def cost(self, action: Array) -> float:
        """Work of the motors, and time."""
        return self.WORK * float(np.abs(self.data.qfrc_actuator[6:] * self.data.qvel[6:]).sum()) + self.TIME

    def verdict(self) -> str:
        """Verdict: it falls by its torso, and stands once it is upright and hardly moves."""
        data, up = self.data, self.upright
        if up < 0.6 or data.qpos[2] < 1.6 * _BODY[2]:
            return "fell"
        v, low = data.qvel, data.qpos[2] < self._up + 0.02
        calm = np.abs(v[:3]).max() < 0.1 and np.abs(v[3:6]).max() < 0.4
        return "stands" if low and calm and up > 0.9 and data.time > 0.3 else ""

    def _get_obs(self) -> Array:
        q, v = self.data.qpos, self.data.qvel
        return np.concatenate([[q[2]], self.lean, v, q[7:] - self._rest])
