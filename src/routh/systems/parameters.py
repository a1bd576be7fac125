"""The parameters of the systems: what each means, its unit and its default."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from routh.systems.base import builder_of

#: parameter -> unit and meaning, the same in every system that has it
MEANINGS: dict[str, tuple[str, str]] = {
    "aim": ("rad", "how far from head on the cue ball meets the first ball"),
    "angle": ("rad", "angle at the start"),
    "anticipate": ("", "whether contacts act before their gap has closed"),
    "balls": ("", "number of balls"),
    "count": ("", "number of spheres"),
    "damping": ("N s/m", "of each constraint"),
    "density": ("kg/m^3", "of the cube"),
    "depth": ("m", "of the foundation"),
    "descent": ("rad", "of the slope"),
    "direction": ("rad", "towards which the ramp descends, from x"),
    "dt": ("s", "step of the simulation"),
    "elements": ("", "number of springs"),
    "figure": ("", "figure of the paper whose numbers are taken"),
    "foot": ("m", "radius of the feet"),
    "gap": ("m", "between neighbours at the start"),
    "height": ("m", "how high the body is"),
    "inertia": ("kg m^2", "about the centre"),
    "leading_hip": ("rad", "hip of the leading leg"),
    "leading_knee": ("rad", "knee of the leading leg"),
    "leg": ("m", "length of a leg"),
    "length": ("m", "how long the body is"),
    "load": ("N", "force on the top"),
    "mass": ("kg", "mass of each body"),
    "mass_to_foot": ("m", "from a leg's mass to its foot"),
    "modulus": ("Pa", "contact modulus of the ramp"),
    "mu": ("", "friction; a number, or one for each contact"),
    "pitch": ("rad", "of the trunk"),
    "radius": ("m", "of each disc or ball"),
    "raised": ("", "how many balls are let go"),
    "rate": ("rad/s", "turning rate at the start"),
    "restitution": ("", "restitution, from 0 to 1"),
    "side": ("m", "length of an edge"),
    "size": ("m", "lengths of the edges"),
    "speed": ("m/s", "speed before the impact"),
    "spin": ("rad/s", "angular velocity before the impact"),
    "spokes": ("", "number of spokes"),
    "start": ("m", "displacement at the start"),
    "stiffness": ("N/m", "of each constraint"),
    "tilt": ("rad", "between the box and the ground"),
    "trailing_hip": ("rad", "hip of the trailing leg"),
    "turn": ("rad", "angle of the box"),
    "velocity": ("m/s", "velocity at the start"),
    "width": ("m", "how wide the body is"),
    "young": ("Pa", "Young's modulus"),
}

#: where a system means something else: (system, parameter)
OTHERWISE: dict[tuple[str, str], tuple[str, str]] = {
    ("bouncing-ball", "height"): ("m", "of the ball's lowest point at the start"),
    ("bouncing-ball", "velocity"): ("m/s, rad/s", "x, y and turning rate at the start"),
    ("newtons-cradle", "length"): ("m", "of the strings"),
    ("pendulum-by-constraint", "length"): ("m", "from the pin to the centre"),
    ("rimless-wheel", "length"): ("m", "of the spokes"),
    ("rimless-wheel-slope", "length"): ("m", "of the spokes"),
    ("box-drop", "height"): ("m", "of the lower corners at the start"),
    ("bowling", "velocity"): ("m/s", "of the pin before the impact"),
    ("icosahedron-tetrahedron", "velocity"): ("m/s", "of the icosahedron before the impact"),
    ("painleve-rod", "speed"): ("m/s", "of the end that slides"),
    ("pendulum-with-limit", "stiffness"): ("N m/rad", "of the limit"),
    ("pendulum-with-limit", "damping"): ("N m s/rad", "of the limit"),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a system, as `routh.systems.get` takes it by keyword."""

    name: str
    default: object  # None: computed from the others
    unit: str  # "" for a number without unit
    meaning: str


def parameters(name: str) -> list[Parameter]:
    """The parameters of the system called ``name``, in the order of its function."""
    found = []
    for key, one in inspect.signature(builder_of(name)).parameters.items():
        unit, meaning = OTHERWISE.get((name, key), MEANINGS.get(key, ("", "")))
        found.append(Parameter(key, one.default, unit, meaning))
    return found
