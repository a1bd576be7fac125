"""The systems that come with routh: one line each. Importing this loads no model.

A new system is a file whose function carries ``@register(name)``, and a line here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["impact", "motion"]


class Entry(NamedTuple):
    """What `routh list` says of a system, and where it is made."""

    module: str  # in routh.systems
    kind: Kind
    contacts: int | None  # of its impact; None where it has none
    source: str
    summary: str


#: in the order of `routh.systems.names`
CATALOGUE: dict[str, Entry] = {
    "rocking-block": Entry(
        "hp23",
        "impact",
        2,
        "HP23 Table 4",
        "A block falls flat on two corners and may rest or rock about either.",
    ),
    "compass-gait": Entry(
        "hp23",
        "impact",
        2,
        "HP23 Table 5",
        "A two-legged walker lands a wide step while its trailing foot rests.",
    ),
    "box-wall": Entry(
        "hp23",
        "impact",
        2,
        "HP23 Table 6",
        "A tilted box slides on one corner and hits a wall with another, friction at both.",
    ),
    "ramone": Entry(
        "hp23",
        "impact",
        2,
        "HP23 Table 7",
        "The five-link biped RAMone lands one foot while the other rests, with huge friction.",
    ),
    "disk-stack": Entry(
        "hp23",
        "impact",
        5,
        "HP23 Table 8",
        "A disc of 1 kg (as in HP23 Table 8) falls on two discs on the ground, five contacts.",
    ),
    "disk-stack-5kg": Entry(
        "hp23",
        "impact",
        5,
        "HP23 Table 8, with the mass its figures used",
        "The disc stack with discs of 5 kg, as in the published figures and Table 3.",
    ),
    "rimless-wheel": Entry(
        "hp19",
        "impact",
        2,
        "HP19 Fig. 3 (dimensions and friction are ours)",
        "A rimless wheel drops on two feet and may rest or lift either of them.",
    ),
    "pushing": Entry(
        "hp19",
        "impact",
        2,
        "HP19 Fig. 4 (dimensions and friction are ours)",
        "A box slides on one corner, with friction, into a frictionless wall.",
    ),
    "block-into-wall": Entry(
        "hp19",
        "impact",
        4,
        "poster of HP19 (dimensions and friction are ours)",
        "A block slides flat on the floor into a wall, with friction at four contacts.",
    ),
    "billiards-break": Entry(
        "billiards",
        "impact",
        31,
        "poster of HP19 (dimensions are those of pool balls)",
        "A cue ball breaks a rack of balls that all touch, seen from above.",
    ),
    "newtons-cradle": Entry(
        "billiards",
        "motion",
        4,
        "classical",
        "Balls on strings in a row; the first is let go and hits the others.",
    ),
    "zeno-block": Entry(
        "motions",
        "motion",
        None,
        "HP23 section 4.3",
        "A block rocks from corner to corner in infinitely many impacts until it rests.",
    ),
    "bouncing-ball": Entry(
        "motions", "motion", 1, "classical", "A ball falls and bounces with restitution, less high each time."
    ),
    "painleve-rod": Entry(
        "motions",
        "motion",
        1,
        "classical (Painlevé; HP23 section 1)",
        "A rod slides on its leading end with so much friction that no force can hold it up.",
    ),
    "rimless-wheel-slope": Entry(
        "motions",
        "motion",
        None,
        "classical (HP19 section III on level ground)",
        "A rimless wheel walks down a slope in a steady gait, one impact per step.",
    ),
    "box-drop": Entry(
        "motions",
        "motion",
        4,
        "our example",
        "A box in space falls flat on four corners, one contact more than it needs.",
    ),
    "icosahedron-tetrahedron": Entry(
        "two_body",
        "impact",
        1,
        "JW17 Fig. 4a",
        "An icosahedron hits a tetrahedron's vertex: one contact in space.",
    ),
    "bowling": Entry(
        "two_body", "impact", 1, "JW17 Fig. 11", "A bowling ball hits a pin: one contact in space."
    ),
    "sphere-half-space": Entry(
        "two_body",
        "impact",
        1,
        "JW17 Fig. 2b (numbers are ours)",
        "A sphere hits the ground: a central impact in closed form.",
    ),
    "spring-mass-damper": Entry(
        "d19",
        "motion",
        None,
        "D19 section 3, Figs. 1-3",
        "A mass on a spring and a damper, the model of every constraint of D19.",
    ),
    "pendulum-by-constraint": Entry(
        "d19",
        "motion",
        None,
        "D19 section 4.4, Fig. 4",
        "A free disc that a stiff pin makes a pendulum, started level.",
    ),
    "pendulum-with-limit": Entry(
        "d19",
        "motion",
        None,
        "D19 section 5.4, Fig. 6",
        "A pendulum that swings into a stiff limit at its lowest point.",
    ),
    "cube-on-foundation": Entry(
        "d19",
        "motion",
        None,
        "D19 section 5.5, Tables 1-2, Fig. 7",
        "A cube on an elastic foundation under a force that circles on its top.",
    ),
    "block-on-incline": Entry(
        "d19",
        "motion",
        None,
        "D19 section 6.4, Fig. 9",
        "A block with four round feet on a steel ramp of 15 degrees.",
    ),
    "sphere-stack": Entry(
        "d19",
        "motion",
        None,
        "D19 section 6.5, Fig. 10",
        "Spheres in a vertical line that stand on each other, or fall and form a stack.",
    ),
}
