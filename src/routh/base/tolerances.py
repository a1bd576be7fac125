"""The tolerances of the library, each with its reason. They are dimensionless where no unit is named.

Solvers scale their problem first (see ``routh.problem.impact.Scaling``): velocities by ``|v|_M``
and the contact's effective mass, impulses likewise. A tolerance here is therefore a share of the problem's
own speed or momentum, never a number in metres per second.
"""

#: A step or LCP counts as solved when its scaled natural residual is below this.
RESIDUAL = 1e-9

#: The same with friction above ``HUGE_FRICTION``, where impulses reach mu times the normal one
#: and the last digits of the contact velocity cancel.
RESIDUAL_HUGE_FRICTION = 1e-7

#: Friction coefficients above this use the tolerance above.
HUGE_FRICTION = 1e3

#: An impact has ended when no contact approaches faster than this share of the speed before
#: (HP23's stopping rule, 1e-8 m/s at speeds near 1 m/s, made relative).
APPROACH = 1e-8

#: Scaled velocities below this are zero: the rounding of a few dozen increments.
ZERO_SPEED = 1e-12

#: Pivot elements smaller than this share of the largest entry of their row count as zero.
PIVOT = 1e-11

#: Two solutions whose scaled velocities differ by less than this are one solution.
SAME_VELOCITY = 1e-7

#: A contact sticks when its tangential speed is below this share of the speed before.
STICK = 1e-7

#: Outcomes that differ by less than this share of the speed before are one, when it is told how ambiguous an
#: impact is: paths along curves are followed to about as much.
AMBIGUOUS = 1e-6

#: Asymmetry of M, relative to its largest entry, that is still rounding.
SYMMETRY = 1e-10

#: What must be left of a diagonal entry of M once the coordinates before it move freely, as a share. Below it
#: rounding of M^-1 is seen: of 4,000 random dense matrices samples missed up to 2e-7 of their momentum just
#: above 1e-7, 5e-6 at 1e-8 and 4e-4 at 1e-10, and their residuals, which are by the same factor, did not show
#: it. Scaling of coordinates counts for nothing. Of two hundred models of robots the least is 3e-4, but for
#: two that have links without inertia.
INERTIA_LEFT = 1e-7

#: A friction cone counts as jammed when its pointedness margin (a dimensionless, cosine-like number) is below
#: this, where rounding hides the difference. RAMone, with friction 1e5, has a margin of 9e-6.
POINTED = 1e-9

#: Singular values of constraint and contact Jacobians below this share of the largest count as zero, also
#: where a least-norm force is sought: far above rounding (1e-15), far below the leverage of real mechanisms.
RANK = 1e-10

#: A velocity before an impact that breaks equality constraints by more than this share of its kinetic-energy
#: norm is named in a warning: soft constraints of simulators drift by less.
CONSTRAINT_DRIFT = 1e-3

#: A contact's normal counts as a combination of others when the share that they miss is below this: contact
#: points of collision detectors carry 1e-8 or so of noise.
DEPENDENT = 1e-7

#: Constraint steps: a direction whose inertia is below this share of the diagonal of M counts as massless.
MASSLESS = 1e-13

#: Constraint steps: scaled residual at which an iteration for friction stops early; a share of the forces.
#: Two digits below `RESIDUAL`, so that the check outside the solver has room for its own rounding.
COULOMB_ITERATION = 1e-11

#: Constraint steps: a row whose mode would change by less than this share of the largest force stands at a
#: kink, where the derivative is one-sided. The solver's own residuals are a thousand times smaller.
KINK = 1e-6

#: D19's own program: residual of its optimality conditions in the solver's scaled variables. Its objective
#: squares the tangential damper, so an interior-point method keeps only about half of the digits.
PAPER_PROGRAM = 1e-6

# Event-driven simulation works in the model's own units: some of its tolerances carry one.

#: A contact is closed when its gap is at most this, m.
CLOSED_GAP = 1e-9

#: A closed contact rests when its normal speed is below this share of the speed (scaled as in `Scaling`), and
#: sticks when its slip is: three times what a law may leave over.
REST = 3e-8

#: The same as a share of the greatest speed met so far: rounding of what that speed left behind.
REST_FLOOR = 1e-13

#: Everything stands still when the whole speed |v|_M is below this share of the greatest met so far: the
#: integrator's default tolerance. While anything moves faster, a contact rests only by REST: one that hops
#: slowly among slow motions separates, and pushing it would give it energy.
STILL = 1e-9

#: The greatest speed counts as at least this share of what the smooth forces alone would bring about from
#: rest in the whole duration: a unit where nothing has moved yet.
FALL = 1e-3

#: A contact force solves the acceleration problem when its scaled violation is below this.
CONTACT_FORCE = 1e-9

#: Two contact modes are one solution when their accelerations differ by less than this share.
SAME_ACCELERATION = 1e-6

#: Zeno: events are extrapolated when the remaining time, by their geometric decay, is below this, s.
ZENO_REMAINING = 1e-5

#: Zeno: momentum that the impulses of the skipped impacts may leave unexplained, as a share of it.
ZENO_MOMENTUM = 1e-7

#: Zeno: ratios of successive cycles that agree within this are one geometric sequence.
ZENO_RATIO = 1e-3

#: Hops lower than CLOSED_GAP are taken in one implicit step, of at most this, s: three times what a hop of
#: that height lasts on Earth, 2.9e-5 s.
SETTLING = 1e-4

# Checking a trajectory (`routh.sim.verify`). The numbers follow from what the simulator promises by
# default: an integrator with rtol 1e-9 and atol 1e-10, contacts closed within CLOSED_GAP, laws that leave
# less than REST. Measured by `python benchmarks/simulation.py futures` (worst shares of what is allowed).

#: Penetration, and the distance of a contact that carries force, m: twice CLOSED_GAP, since a motion may
#: start and end contact anywhere within it. Per m of the configuration beyond 1 m: the integrator's error
#: is relative.
VERIFY_GAP = 2e-9

#: Overlap, m, that another way to look for contacts finds where the motion has none: MuJoCo's own ends its
#: search for the distance of two shapes at 1e-6 m.
VERIFY_OVERLAP = 1e-5

#: Contact velocity that an event may take for none, as a share of the speed: REST, at several contacts.
VERIFY_REST = 3.0 * REST

#: Contact velocity that is no motion, as a share of the greatest speed met; and error of the configuration
#: per interval. Twice the integrator's relative tolerance: both ends of an interval have one.
VERIFY_INTEGRATOR = 2e-9

#: Friction cone and dissipation of recorded forces, as a share of the largest: a mode's forces solve its
#: equations directly and meet its inequalities to CONTACT_FORCE.
VERIFY_FORCE = CONTACT_FORCE

#: Equation of motion in the middle of an interval, as a share of the forces there. A step of the eighth-order
#: integrator spans some (1e-9)^(1/8) = 0.07 of the time in which the motion changes, an interval a twelfth of
#: that: a cubic through its ends misses its fourth power, 1e-9, times derivatives that reach some hundreds.
VERIFY_DYNAMICS = 1e-6

#: Momentum over an impact that no impulse explains, as a share: rounding, for mass ratios up to 1e4.
VERIFY_MOMENTUM = 1e-11

#: The same over an accumulation of impacts, as a share of the momentum left there: ten times ZENO_MOMENTUM,
#: which is measured in another norm.
VERIFY_ZENO = 1e-6

#: Energy gained since it was lowest, as a share of what changes hands: ten times the integrator's tolerance
#: for what position and velocity add up to; every later step of the integrator may add its own.
VERIFY_ENERGY = 1e-8

#: Energetic restitution: a contact has returned its share when less than this share of the kinetic energy
#: before is left of it. Far below the audit of energies (1e-9), far above rounding.
BUDGET = 1e-13

#: Poisson's restitution: the same for the normal impulse, as a share of the contact's momentum scale.
BUDGET_IMPULSE = 1e-10

#: Asymmetry of an inverse inertia matrix W, relative to its largest entry, that is still accepted: JW17
#: prints W to six digits, and its two halves differ in the last one. The upper triangle counts.
PRINTED_SYMMETRY = 1e-5

#: How far a problem may be moved on its way to rational numbers, in its own units (relative).
SNAP = 1e-9

#: Contact velocities this near to zero or to each other (share of the speed) are taken to be so by an exact
#: set of a problem in floating point. Rows of J, whose changes move outcomes by their root, up to rounding.
SNAP_GIVEN = 1e-11
SNAP_ROWS = 2e-15
