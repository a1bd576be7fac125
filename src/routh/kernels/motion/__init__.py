"""Smooth motion between events, compiled: what `routh.sim` calls in its inner loop.

Read in this order:

- `place`: mass, free acceleration, gaps and Jacobians at one state.
- `forces`: contact forces and accelerations in one contact mode, also of any model from its Jacobians.
- `runge_kutta`: steps of order eight with an error estimate and dense output.
- `turning`: how fast slip in space can turn, which bounds steps.
- `sliding`: slow slip in space over a short step of any model.
- `course`: what Python asks for: advance, look for events, settle on a root.

The readable counterparts are `routh.models.planar`, `routh.sim.contact_forces` and `routh.sim.mode_motion`.
"""
