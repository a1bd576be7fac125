"""Everything that a MuJoCo model can hold, and what each question makes of it: the one table.

`FEATURES` are what some question cannot keep: it names it in an `UnrepresentedWarning`, or refuses the model.
`KEPT` and `IDLE` are all other attributes of MuJoCo's model, options and flags; a test goes through MuJoCo's
own lists, so that none is in no list. Of a MuJoCo that is newer than this file, what is in none of them and
differs from MuJoCo's default is named, and shapes, joints or constraints of an unknown kind are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from routh.base.status import ModelError
from routh.models.mujoco.contacts import geom_name, named, near_contacts
from routh.models.mujoco.engine import Near, engine, switched_off
from routh.models.mujoco.pairs import Pair, heightfields_know_distances, pair_of
from routh.models.regime import spring_of
from routh.models.robot import listed

if TYPE_CHECKING:
    from mujoco import MjContact, MjModel

# Questions that are asked of a model. Impacts are those of `problem`, `problems` and `landing`.
IMPACT, TIPPING, SIMULATE, STEPS = "an impact", "`tipping`", "`routh.simulate`", "`routh.step_through`"
QUESTIONS = IMPACT, TIPPING, SIMULATE, STEPS
# What is made of a feature. Nothing: it changes no answer to the question.
HONOURED, NAMED, REFUSED, NOTHING = "honoured", "named", "refused", "nothing"

_DAMPED = 0.8  # damping ratio below which a contact bounces: exp(-pi 0.8 / 0.6) = 0.015 of the speed


@dataclass(frozen=True)
class Feature:
    """Something that a model may hold, and what becomes of it, question by question."""

    what: str
    ways: tuple[str, str, str, str]  # of `QUESTIONS`
    why: str
    fields: str = ""  # attributes of MjModel, "opt.x", members of MuJoCo's enumerations: all that make it
    wanted: str = "none"  # in place of it, where it is refused
    owners: Callable[[MjModel], list[str]] | None = None  # what of a model has it
    at: Callable[[MjContact | Pair], bool] | None = None  # or which contacts have it

    def way(self, question: str) -> str:
        """What becomes of it."""
        return self.ways[QUESTIONS.index(question)]

    def note(self, owners: Iterable[str]) -> str:
        """A part of the warning that names it."""
        return f"{self.what} ({listed(owners)})"

    def refusal(self, question: str, owners: Iterable[str]) -> str:
        """The message of the error that names it."""
        return f"model: has {self.note(owners)}, which {question} cannot follow; wanted {self.wanted}"


def refusal_of(model: MjModel, question: str) -> str:
    """Why a model is refused that holds what makes answers to the question wrong; empty where it is not."""
    refused = [one for one in FEATURES if one.way(question) == REFUSED and one.owners]
    return next((one.refusal(question, owners) for one in refused if (owners := one.owners(model))), "")  # type: ignore[misc]


def refuse(model: MjModel, question: str) -> None:
    """Raise where a model holds what makes answers to the question wrong."""
    if refusal := refusal_of(model, question):
        raise ModelError(wrong=refusal)


def notes_on(model: MjModel, question: str) -> list[str]:
    """What the answer leaves out of a model, one sentence part each, but for what contacts tell."""
    named_ones = [one for one in FEATURES if one.way(question) == NAMED and one.owners and not one.at]
    return [one.note(owners) for one in named_ones if (owners := one.owners(model))]  # type: ignore[misc]


def of_contact(contact: MjContact | Pair, question: str = IMPACT) -> list[str]:
    """What a contact has that is named."""
    return [one.what for one in FEATURES if one.way(question) == NAMED and one.at and one.at(contact)]


def of_pair(model: MjModel, contact: MjContact, question: str = IMPACT) -> list[str]:
    """The same of a contact that was looked for from afar, which hides its own margin; the model has it."""
    first, second = map(int, contact.geom)
    pair = pair_of(model, first, second, _number_of(model, contact))
    return [
        one.what
        for one in FEATURES
        if one.way(question) == NAMED and one.at and one.at(pair if one.what in _AFAR else contact)
    ]


def _number_of(model: MjModel, contact: MjContact) -> int | None:
    """Which ``<pair>`` of the model a contact is of."""
    if not model.npair:
        return None
    pairs = np.sort(np.column_stack([model.pair_geom1, model.pair_geom2]), axis=1)
    same = np.flatnonzero((pairs == np.sort(contact.geom)).all(axis=1))
    return int(same[0]) if len(same) else None


def unrepresented(
    model: MjModel, near: Near, pairs: Collection[tuple[str, str]], kept: str | None = None
) -> list[str]:
    """What an impact leaves out, one sentence part each; ``pairs``: the geoms of the contacts that are kept.

    ``kept``: what it does not leave out, though others do.

    Finite forces (joint friction, damping, springs, actuators, fluid) do no work in an instant: they are
    rightly absent and not listed.
    """
    notes: dict[str, list[str]] = {}
    judged: set[tuple[int, ...]] = set()
    for contact in near_contacts(near.data):
        if min(contact.geom) < 0:  # of a flexible body
            continue
        geoms = tuple(map(int, contact.geom))
        if geoms in judged:
            continue
        judged.add(geoms)
        first, second = (geom_name(model, geom) for geom in geoms)
        if (first, second) in pairs:
            for what in of_pair(model, contact):
                notes.setdefault(what, []).append(f"{second}/{first}")
    told = (f"{what} ({listed(sorted(where))})" for what, where in notes.items() if what != kept)
    return [*told, *notes_on(model, IMPACT)]


# What a model has, by name.


def adhesion_actuators(model: MjModel) -> list[str]:
    """Actuators that pull bodies to what they touch."""
    return _named(model, "actuator", pulls(model))


def pulls(model: MjModel) -> np.ndarray:
    """Which actuators are adhesive, (actuators,) bool."""
    return np.asarray(model.actuator_trntype) == int(engine().mjtTrn.mjTRN_BODY)


def equality_names(model: MjModel) -> tuple[str, ...]:
    """The active equality constraints by name; those that have none are numbered."""
    return tuple(_named(model, "equality", np.asarray(model.eq_active0)))


def of_type(model: MjModel, *kinds: str) -> np.ndarray:
    """Which geoms are of some types, (ngeom,) bool."""
    return np.isin(model.geom_type, [int(getattr(engine().mjtGeom, f"mjGEOM_{name}")) for name in kinds])


def _named(model: MjModel, word: str, which: np.ndarray) -> list[str]:
    return [named(model, word, int(i)) for i in np.flatnonzero(which)]


def _colliding(model: MjModel, which: np.ndarray) -> list[str]:
    """Names of the geoms in ``which`` (ngeom,) that can touch anything."""
    paired = np.isin(np.arange(model.ngeom), [*model.pair_geom1, *model.pair_geom2])
    meets = (np.asarray(model.geom_contype) != 0) | (np.asarray(model.geom_conaffinity) != 0) | paired
    if switched_off(model, "CONTACT", "CONSTRAINT"):
        meets[:] = False
    return [geom_name(model, int(geom)) for geom in np.flatnonzero(which & meets)]


def _moving_surfaces(model: MjModel) -> list[str]:
    speeds = getattr(model, "geom_surfacevel", None)  # since MuJoCo 4
    return [] if speeds is None else _colliding(model, np.any(np.asarray(speeds) != 0.0, axis=1))


def _sticky_contacts(model: MjModel) -> list[str]:
    if not hasattr(model, "geom_adhesion"):  # since MuJoCo 4
        return []
    pulls = np.flatnonzero(model.pair_adhesion)
    pairs = [pair_of(model, int(model.pair_geom1[k]), int(model.pair_geom2[k])).name for k in pulls]
    return [*_colliding(model, np.asarray(model.geom_adhesion) != 0.0), *pairs]


def _flexible(model: MjModel) -> list[str]:
    return [f"flex {i}" for i in range(int(getattr(model, "nflex", 0)))]


def _mistaken_heightfields(model: MjModel) -> list[str]:
    shapes = _colliding(model, of_type(model, "HFIELD")) if model.nhfield else []
    return shapes if shapes and not heightfields_know_distances() else []


def _sampled_shapes(model: MjModel) -> list[str]:
    return _colliding(model, of_type(model, *SAMPLED))


def _strange_equalities(model: MjModel) -> list[str]:
    kinds = [int(getattr(engine().mjtEq, name)) for name in EQUALITY_ROWS]
    return _named(model, "equality", ~np.isin(model.eq_type, kinds))


def _limits(model: MjModel) -> list[str]:
    """Limits of tendons and ball joints."""
    if switched_off(model, "LIMIT", "CONSTRAINT"):
        return []
    balls = np.asarray(model.jnt_type) == int(engine().mjtJoint.mjJNT_BALL)
    joints = _named(model, "joint", balls & np.asarray(model.jnt_limited, dtype=bool))
    return [*joints, *_named(model, "tendon", np.asarray(model.tendon_limited))]


def _rough_joints(model: MjModel) -> list[str]:
    if switched_off(model, "FRICTIONLOSS", "CONSTRAINT"):
        return []
    joints = np.unique(np.asarray(model.dof_jntid)[np.asarray(model.dof_frictionloss) != 0.0])
    tendons = np.asarray(model.tendon_frictionloss) != 0.0
    return [*(named(model, "joint", int(j)) for j in joints), *_named(model, "tendon", tendons)]


def _early_limits(model: MjModel) -> list[str]:
    if switched_off(model, "LIMIT", "CONSTRAINT"):
        return []
    joints = np.asarray(model.jnt_limited, dtype=bool) & (np.asarray(model.jnt_margin) != 0.0)
    tendons = np.asarray(model.tendon_limited, dtype=bool) & (np.asarray(model.tendon_margin) != 0.0)
    return [*_named(model, "joint", joints), *_named(model, "tendon", tendons)]


def _actuators_with_states(model: MjModel) -> list[str]:
    none = int(engine().mjtDyn.mjDYN_NONE)
    return _named(model, "actuator", np.asarray(model.actuator_dyntype) != none)


def _late_actuators(model: MjModel) -> list[str]:
    return _named(model, "actuator", np.asarray(getattr(model, "actuator_delay", np.zeros(model.nu))))


def _plastic(model: MjModel) -> list[str]:
    fields = (("joint", "jnt_plasticadr"), ("tendon", "tendon_plasticadr"))  # since MuJoCo 4
    there = [(word, of) for word, of in fields if hasattr(model, of)]
    return [name for word, of in there for name in _named(model, word, np.asarray(getattr(model, of)) >= 0)]


def _plugins_with_states(model: MjModel) -> list[str]:
    return _named(model, "plugin", np.asarray(model.plugin_statenum))


def _carried_by_motors(model: MjModel) -> list[str]:
    heavy = bool(np.any(model.body_gravcomp)) and not switched_off(model, "GRAVITY", "ACTUATION")
    return _named(model, "joint", np.asarray(model.jnt_actgravcomp)) if heavy else []


def _of_unknown_kind(model: MjModel) -> list[str]:
    """Shapes, joints, constraints and actuators of kinds that this file does not know."""
    return [
        name
        for word, field, strange in _strange_kinds()
        for name in _named(model, word, np.isin(getattr(model, field), strange))
    ]


@cache
def _strange_kinds() -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    """What has kinds that are not in the table, the attribute that tells them, and their numbers."""
    found, known = [], known_names()
    for word, field, enumeration in _KINDS:
        members = getattr(engine(), enumeration).__members__
        kinds = {name: int(value) for name, value in members.items() if not name.startswith("mjN")}
        if strange := tuple(value for name, value in kinds.items() if name not in known):
            found.append((word, field, strange))
    return tuple(found)


#: Attributes of a model that say of what kind something is.
_KINDS = (
    ("geom", "geom_type", "mjtGeom"), ("joint", "jnt_type", "mjtJoint"), ("equality", "eq_type", "mjtEq"),
    ("actuator", "actuator_trntype", "mjtTrn"), ("actuator", "actuator_dyntype", "mjtDyn"),
    ("actuator", "actuator_gaintype", "mjtGain"), ("actuator", "actuator_biastype", "mjtBias"),
)  # fmt: skip
# Shapes that MuJoCo's distance function does not know: only its contacts tell of them.
SAMPLED = "HFIELD", "SDF"
#: Equality constraints that a step can follow, and how many rows each has.
EQUALITY_ROWS = {"mjEQ_CONNECT": 3, "mjEQ_WELD": 6, "mjEQ_JOINT": 1, "mjEQ_TENDON": 1}

#: Of contacts that are no rigid ones without restitution.
BOUNCES = "underdamped solref, which bounces: give restitution= instead"

#: Friction whose two coefficients differ, between shapes of which MuJoCo turns the tangents with one.
TURNING_FRICTION = Feature(
    "friction that differs by direction, between shapes that turn",
    (HONOURED, HONOURED, REFUSED, REFUSED),
    "Coulomb's cone with the weaker tangent scaled is exact; motions need tangents that stay, as over planes",
    fields="pair_friction",
    wanted="one coefficient, or a plane and no capsule",
)  # found where possible contacts are listed: `routh.models.mujoco.touches`

FEATURES = (
    Feature(
        "shapes, joints, constraints or actuators of a kind that is newer than this version of routh",
        (REFUSED, REFUSED, REFUSED, REFUSED),
        "nobody knows what they do",
        wanted="a newer routh, or an older MuJoCo and model",
        owners=_of_unknown_kind,
    ),
    Feature(
        "what is newer than this version of routh",
        (NAMED, NAMED, NAMED, NAMED),
        "it may change nothing; a user of a newer MuJoCo is told",
        owners=lambda model: newcomers(model),
    ),
    Feature(
        "moving surfaces",
        (NAMED, REFUSED, REFUSED, REFUSED),
        "friction acts against the slip on the belt, and the belt does work",
        fields="geom_surfacevel flg_surfacevel MjContact.surfacevel",
        wanted="surfaces that stand still",
        owners=_moving_surfaces,
        at=lambda contact: _has(contact, "surfacevel"),
    ),
    Feature(
        "adhesion of contacts",
        (NAMED, REFUSED, REFUSED, REFUSED),
        "a contact that pulls is no unilateral one; in an instant a finite pull does nothing",
        fields="geom_adhesion pair_adhesion flg_adhesion MjContact.adhesion",
        owners=_sticky_contacts,
        at=lambda contact: _has(contact, "adhesion"),
    ),
    Feature(
        "adhesion",
        (NAMED, NAMED, NAMED, NAMED),
        "actuators pull only where inputs are given; a motion refuses inputs of these",
        fields="mjTRN_BODY",
        owners=adhesion_actuators,
    ),
    Feature(
        "flexible bodies",
        (NAMED, REFUSED, REFUSED, REFUSED),
        "bodies are rigid; an impact goes without the contacts of these",
        fields="flex_* flexedge_* flexvert_* mjEQ_FLEX mjEQ_FLEXVERT mjEQ_FLEXSTRAIN MjContact.flex "
        "MjContact.elem MjContact.vert",
        wanted="rigid bodies only",
        owners=_flexible,
    ),
    Feature(
        "heightfields, whose distances this version of MuJoCo mistakes",
        (REFUSED, REFUSED, REFUSED, REFUSED),
        "contacts are looked for from afar, and come out centimetres too deep before MuJoCo 4",
        wanted="MuJoCo 4 or later, or planes, meshes and other shapes",
        owners=_mistaken_heightfields,
    ),
    Feature(
        "shapes that are heightfields or distance functions",
        (HONOURED, HONOURED, REFUSED, HONOURED),
        "MuJoCo's contacts know them, its distance function does not: a step asks the contacts",
        fields="hfield_* oct_* mjGEOM_HFIELD mjGEOM_SDF geom_plugin",
        wanted="planes, meshes or other shapes, or `routh.step_through`",
        owners=_sampled_shapes,
    ),
    TURNING_FRICTION,
    Feature(
        "torsional friction",
        (NAMED, NAMED, NAMED, NAMED),
        "Coulomb's cone has a normal and two tangents",
        at=lambda contact: bool(contact.dim >= 4 and contact.friction[2] > 0.0),
    ),
    Feature(
        "rolling friction",
        (NAMED, NAMED, NAMED, NAMED),
        "the same",
        at=lambda contact: bool(contact.dim >= 6 and np.any(contact.friction[3:5] > 0.0)),
    ),
    Feature(
        BOUNCES,
        (NAMED, HONOURED, NAMED, NAMED),
        "restitution is the user's to give; landings and `tipping` take it from the contacts' springs",
        at=lambda contact: bool(spring_of(contact.solref[:2])[1] < _DAMPED),
    ),
    Feature(
        "margin, from which contacts push: shapes touch as they are drawn",
        (NAMED, NAMED, NAMED, NAMED),
        "all contacts of a geom come earlier by as much, as if it were larger",
        fields="geom_margin geom_gap pair_margin pair_gap body_margin opt.o_margin MjContact.includemargin",
        at=lambda contact: isinstance(contact, Pair) and contact.includemargin > 0.0,
    ),
    Feature(
        "margin of limits, from which they push: they stop where their range ends",
        (NAMED, NOTHING, NAMED, NAMED),
        "the same of joints and tendons; `tipping` holds joints",
        fields="jnt_margin tendon_margin",
        owners=_early_limits,
    ),
    Feature(
        "equality constraints",
        (HONOURED, HONOURED, REFUSED, HONOURED),
        "an impact keeps the velocities that they allow, a step solves for their forces",
        fields="eq_* mjEQ_CONNECT mjEQ_WELD mjEQ_JOINT mjEQ_TENDON mjDSBL_EQUALITY",
        wanted="none, or `routh.step_through`; for the impact alone `routh.models.mujoco.problem`",
        owners=lambda model: list(equality_names(model)),
    ),
    Feature(
        "equality constraints of a type that steps do not know",
        (HONOURED, HONOURED, REFUSED, REFUSED),
        "MuJoCo's rows tell an impact which velocities they allow",
        fields="mjEQ_DISTANCE",
        wanted="connect, weld, joint or tendon",
        owners=_strange_equalities,
    ),
    Feature(
        "frictionloss",
        (NOTHING, NOTHING, NAMED, HONOURED),
        "finite forces do nothing in an instant; steps solve for them",
        fields="dof_frictionloss tendon_frictionloss mjDSBL_FRICTIONLOSS",
        owners=_rough_joints,
    ),
    Feature(
        "limits of tendons and balls",
        (HONOURED, NOTHING, NAMED, HONOURED),
        "steps solve for them; `tipping` holds joints",
        fields="tendon_limited tendon_range",
        owners=_limits,
    ),
    Feature(
        "actuators with a state of their own (activation)",
        (NOTHING, NOTHING, REFUSED, REFUSED),
        "a state is positions and velocities",
        fields="actuator_dyntype actuator_dynprm actuator_actadr actuator_actnum actuator_actlimited "
        "actuator_actrange actuator_actearly mjDYN_INTEGRATOR mjDYN_FILTER mjDYN_FILTEREXACT mjDYN_MUSCLE "
        "mjDYN_DCMOTOR mjDYN_PID mjDYN_USER",
        wanted="ones without dyntype",
        owners=_actuators_with_states,
    ),
    Feature(
        "actuators with a delay",
        (NOTHING, NOTHING, REFUSED, REFUSED),
        "the same",
        fields="actuator_delay actuator_history actuator_historyadr",
        owners=_late_actuators,
    ),
    Feature(
        "plastic springs (springyield)",
        (NOTHING, NOTHING, REFUSED, REFUSED),
        "the same",
        fields="jnt_springyield jnt_plasticadr tendon_springyield tendon_plasticadr",
        owners=_plastic,
    ),
    Feature(
        "plugins with a state of their own",
        (NOTHING, NOTHING, REFUSED, REFUSED),
        "the same",
        fields="plugin plugin_* body_plugin actuator_plugin",
        owners=_plugins_with_states,
    ),
    Feature(
        "weight that motors carry (actuatorgravcomp), where no inputs are given",
        (NOTHING, NOTHING, NAMED, NAMED),
        "actuators act where inputs are given",
        fields="jnt_actgravcomp",
        owners=_carried_by_motors,
    ),
)
#: What the model has to tell: contacts that are looked for from afar, or of some versions, do not.
_AFAR = {one.what for one in FEATURES if re.search("geom_(margin|surfacevel|adhesion)", one.fields)}

#: All that every question keeps, or takes from MuJoCo itself; why -> attributes.
KEPT = {
    "bodies and their masses, and what MuJoCo derives from them; mocap bodies stand still": """
        qpos0 body_dofadr body_dofnum body_geomadr body_geomnum body_inertia body_ipos body_iquat body_jntadr
        body_jntnum body_mass body_mocapid body_parentid body_pos body_quat body_rootid body_sameframe
        body_simple body_subtreemass body_treeid body_weldid tree_bodyadr tree_bodynum tree_dofadr
        tree_dofnum dof_M0 dof_Madr dof_bodyid dof_jntid dof_parentid dof_simplenum dof_treeid dof_length
        jnt_axis jnt_bodyid jnt_dofadr jnt_pos jnt_qposadr jnt_type mjJNT_FREE mjJNT_BALL
        mjJNT_SLIDE mjJNT_HINGE""",
    "inertia that is no body's: in the mass matrix, not in the weight": """
        dof_armature tendon_armature actuator_armature""",
    "limits of hinges and slides: contacts without friction": "jnt_limited jnt_range mjDSBL_LIMIT",
    "shapes, and which of them touch": """
        geom_aabb geom_bodyid geom_conaffinity geom_contype geom_dataid geom_pos geom_quat geom_rbound
        geom_sameframe geom_size geom_type body_contype body_conaffinity body_bvhadr body_bvhnum bvh_*
        mesh_bvh* mesh_face* mesh_graph* mesh_poly* mesh_vert* mesh_extrema mesh_oct* mesh_pos mesh_quat
        mesh_scale mesh_normal* pair_geom1 pair_geom2 pair_signature exclude_signature mjGEOM_PLANE
        mjGEOM_SPHERE mjGEOM_CAPSULE mjGEOM_ELLIPSOID mjGEOM_CYLINDER mjGEOM_BOX mjGEOM_MESH
        mjDSBL_CONTACT mjDSBL_CONSTRAINT mjDSBL_FILTERPARENT mjDSBL_FILTER mjDSBL_MIDPHASE
        mjDSBL_NATIVECCD mjDSBL_MULTICCD mjENBL_MULTICCD mjENBL_NATIVECCD opt.ccd_* opt.mpr_* opt.sdf_*
        MjContact.dist MjContact.pos MjContact.frame MjContact.geom MjContact.geom1 MjContact.geom2
        MjContact.exclude""",
    "friction, by priority, pair or override (replaced impacts refuse an override)": """
        geom_friction geom_condim geom_priority pair_dim opt.o_friction mjENBL_OVERRIDE
        MjContact.friction MjContact.dim""",
    "how hard contacts are: restitution and regime of landings; motions are rigid": """
        geom_solimp geom_solmix geom_solref pair_solimp pair_solref pair_solreffriction opt.o_solref
        opt.o_solimp opt.impratio opt.timestep mjDSBL_REFSAFE MjContact.solref MjContact.solimp
        MjContact.solreffriction MjContact.mu MjContact.H""",
    "how hard limits and constraints are: rigid, or with stiffness='solref' as MuJoCo's": """
        jnt_solimp jnt_solref dof_solimp dof_solref tendon_solimp_fri tendon_solimp_lim tendon_solref_fri
        tendon_solref_lim body_invweight0 dof_invweight0 tendon_invweight0""",
    "gravity and what carries weight: finite forces, kept by motions; proofs of `tipping` look at them": """
        opt.gravity mjDSBL_GRAVITY body_gravcomp flg_gravcomp""",
    "springs, dampers, fluid: finite forces, kept by motions; proofs of `tipping` look at them": """
        qpos_spring jnt_stiffness jnt_stiffnesspoly dof_damping dof_dampingpoly tendon_damping
        tendon_dampingpoly tendon_stiffness tendon_stiffnesspoly tendon_lengthspring tendon_length0
        mjDSBL_PASSIVE mjDSBL_SPRING mjDSBL_DAMPER opt.density opt.viscosity opt.wind geom_fluid""",
    "tendons: MuJoCo's lengths and their rates": """
        tendon_adr tendon_num tendon_type tendon_treeid tendon_treenum tendon_actuatorid wrap_* ten_J_*
        mjWRAP_NONE mjWRAP_JOINT mjWRAP_PULLEY mjWRAP_SITE mjWRAP_SPHERE mjWRAP_CYLINDER mjTENDON_FIXED
        mjTENDON_SPATIAL site_bodyid site_dataid site_pos site_quat site_sameframe site_size site_type""",
    "actuators: finite forces, kept by motions where inputs are given": """
        jnt_actfrclimited jnt_actfrcrange jnt_actuatorid tendon_actfrclimited tendon_actfrcrange
        actuator_acc0 actuator_biasprm actuator_biastype actuator_cranklength actuator_ctrladr
        actuator_ctrllimited actuator_ctrlnum actuator_ctrlrange actuator_ctrlspec actuator_damping
        actuator_dampingpoly actuator_forcelimited actuator_forcerange actuator_gainprm actuator_gaintype
        actuator_gear actuator_group actuator_length0 actuator_lengthrange actuator_outadr actuator_outnum
        actuator_trnid actuator_trntype opt.disableactuator mjDSBL_ACTUATION mjDSBL_CLAMPCTRL
        mjTRN_JOINT mjTRN_JOINTINPARENT mjTRN_SLIDERCRANK mjTRN_TENDON mjTRN_SITE mjTRN_SO3 mjTRN_UNDEFINED
        mjDYN_NONE mjGAIN_FIXED mjGAIN_AFFINE mjGAIN_MUSCLE mjGAIN_DCMOTOR mjGAIN_SO3 mjGAIN_PID mjGAIN_USER
        mjBIAS_NONE mjBIAS_AFFINE mjBIAS_MUSCLE mjBIAS_DCMOTOR mjBIAS_SO3 mjBIAS_USER mjINPUT_POS mjINPUT_VEL
        mjINPUT_FF mjINPUT_VOLTAGE mjINPUT_NONE mjINPUT_PRESSURE mjCHART_EXPMAP mjCHART_QUAT""",
}  # fmt: skip

#: What no answer depends on; why -> attributes.
IDLE = {
    "pictures, names, notes, sensors, stored states": """
        cam_* light_* mat_* tex_* text_* tuple_* paths skin_* sensor_* key_* vis stat *_user geom_group
        jnt_group site_group tendon_group geom_matid site_matid tendon_matid geom_rgba site_rgba tendon_rgba
        mjGEOM_ARROW mjGEOM_ARROW1 mjGEOM_ARROW2 mjGEOM_LINE mjGEOM_LINEBOX mjGEOM_FLEX mjGEOM_SKIN
        mjGEOM_LABEL mjGEOM_TRIANGLE mjGEOM_NONE
        mesh_pathadr geom_castshadow mesh_texcoord* tendon_width opt.magnetic mjDSBL_SENSOR signature""",
    "how MuJoCo's solvers and integrators go about it": """
        opt.cone opt.integrator opt.iterations opt.jacobian opt.ls_* opt.noslip_* opt.solver opt.tolerance
        opt.sleep_tolerance opt.apirate mjDSBL_WARMSTART mjDSBL_EULERDAMP mjDSBL_AUTORESET
        mjDSBL_ISLAND mjENBL_ENERGY mjENBL_FWDINV mjENBL_INVDISCRETE mjENBL_SLEEP mjENBL_DIAGEXACT mjENBL_IPC
        mjENBL_SPECULATIVE mjENBL_ISLAND tree_sleep_policy mjCONE_PYRAMIDAL mjCONE_ELLIPTIC mjINT_EULER
        mjINT_RK4 mjINT_IMPLICIT mjINT_IMPLICITFAST mjINT_DISCRETE mjSOL_PGS mjSOL_CG mjSOL_NEWTON
        MjContact.efc_address""",
    "sizes, names and numbers, and where sparse matrices have entries": """
        n[A-Za-z]* [BDM]_* map*2* efm*""",
    "access by name, and flags, of which each bit stands here by itself": """
        opt.disableflags opt.enableflags
        actuator body cam camera dof eq equality exclude flex geom hfield jnt joint key keyframe light mat
        material mesh pair sensor site skin ten tendon tex text texture tuple opt bind bind_scalar
        from_binary_path from_xml_path from_xml_string""",
}  # fmt: skip

_ENUMERATIONS = (
    ("DisableBit", "mjDSBL_"), ("EnableBit", "mjENBL_"), ("Geom", "mjGEOM_"), ("Joint", "mjJNT_"),
    ("Eq", "mjEQ_"), ("Trn", "mjTRN_"), ("Dyn", "mjDYN_"), ("Gain", "mjGAIN_"), ("Bias", "mjBIAS_"),
    ("Wrap", "mjWRAP_"), ("Cone", "mjCONE_"), ("Integrator", "mjINT_"), ("Solver", "mjSOL_"),
    ("Tendon", "mjTENDON_"), ("CtrlInput", "mjINPUT_"), ("CtrlChart", "mjCHART_"),
)  # fmt: skip


@cache
def mujocos_own() -> tuple[str, ...]:
    """The attributes of this MuJoCo's model, options ("opt.") and contacts, and members of enumerations."""
    mujoco = engine()
    own = [name for name in dir(mujoco.MjModel) if not name.startswith("_")]
    own += [f"opt.{name}" for name in dir(mujoco.MjOption) if not name.startswith("_")]
    own += [f"MjContact.{name}" for name in dir(mujoco.MjContact) if not name.startswith("_")]
    for kind, prefix in _ENUMERATIONS:
        members = getattr(getattr(mujoco, f"mjt{kind}", None), "__members__", {})
        own += [name for name in members if name.startswith(prefix)]
    return tuple(own)


def places(name: str) -> list[str]:
    """Which entries of the table an attribute is in: its feature, or why it is kept or idle."""
    return [entry for entry, pattern in _patterns() if pattern.fullmatch(name)]


@cache
def known_names() -> frozenset[str]:
    """What of `mujocos_own` is in the table."""
    return frozenset(name for name in mujocos_own() if places(name))


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    entries = [*((one.what, one.fields) for one in FEATURES), *KEPT.items(), *IDLE.items()]
    return tuple(
        (entry, re.compile("|".join(word.replace(".", r"\.").replace("*", ".*") for word in words.split())))
        for entry, words in entries
        if words.split()
    )


def newcomers(model: MjModel) -> list[str]:
    """What of a model is not in the table and is not as in a model that says nothing of it."""
    return [name for name in _strangers() if _differs(model, _plain(), name)]


@cache
def _strangers() -> tuple[str, ...]:
    """Attributes, options and flags of this MuJoCo that are not in the table."""
    return tuple(name for name in mujocos_own() if name not in known_names())


@cache
def _plain() -> Any:
    text = "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
    return engine().MjModel.from_xml_string(text)


def _differs(model: MjModel, plain: MjModel, name: str) -> bool:
    mujoco = engine()
    for kind, field in (("DisableBit", "disableflags"), ("EnableBit", "enableflags")):
        bits = getattr(mujoco, f"mjt{kind}").__members__
        if name in bits:
            return bool(int(getattr(model.opt, field)) & int(bits[name]))
    owner, _, attribute = name.rpartition(".")
    holders = [getattr(one, owner) if owner else one for one in (model, plain)]
    if owner not in ("", "opt") or not all(hasattr(one, attribute) for one in holders):
        return False  # of contacts, or a kind: `_of_unknown_kind`
    values, usual = (np.asarray(getattr(one, attribute)) for one in holders)
    if values.dtype.kind not in "biuf" or not values.size:
        return False
    if not owner and values.ndim and len(usual):
        usual = usual[-1]
    return bool(np.any(values != (usual if usual.size else 0)))


def _has(contact: MjContact | Pair, field: str) -> bool:
    return bool(np.any(np.asarray(getattr(contact, field, 0.0)) != 0.0))
