"""Every tolerance of the library, in one place. All of them are dimensionless.

Solvers scale their problem first (see ``routh.problem.Scaling``): velocities by ``|v|_M``
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

#: Pivot elements smaller than this share of the largest entry of their row count as zero.
PIVOT = 1e-11

#: Two solutions whose scaled velocities differ by less than this are one solution.
SAME_VELOCITY = 1e-7

#: A contact sticks when its tangential speed is below this share of the speed before.
STICK = 1e-7

#: Asymmetry of M, relative to its largest entry, that is still rounding.
SYMMETRY = 1e-10

#: A friction cone counts as jammed when its pointedness margin (a dimensionless, cosine-like number) is below
#: this: ten times what linear programs resolve. RAMone, with friction 1e5, has a margin of 9e-6.
POINTED = 1e-9

#: Energetic restitution: a contact has returned its share when less than this share of the kinetic energy
#: before is left of it. Far below the audit of energies (1e-9), far above rounding.
BUDGET = 1e-13

#: Poisson's restitution: the same for the normal impulse, as a share of the contact's momentum scale.
BUDGET_IMPULSE = 1e-10

#: Asymmetry of an inverse inertia matrix W, relative to its largest entry, that is still accepted: JW17
#: prints W to six digits, and its two halves differ in the last one. The upper triangle counts.
PRINTED_SYMMETRY = 1e-5
