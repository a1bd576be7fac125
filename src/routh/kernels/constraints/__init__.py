"""Constraint forces of a step (D19) and whole motions by them, compiled.

A step is a list of spring-damper rows on velocities: bilateral, unilateral, contact normals, contact
tangents. Every row obeys ``y = c - S G a`` in scaled form (`routh.constraints.system.ActingRows`), one-sided
and within its friction cone; Newton's method on what the rows do (act or not, stick or slide) solves a linear
system of the rows that act, until nothing changes and the residual, computed from the data alone, is that of
rounding. Where it does not get there it says so, and whoever asked takes the readable solver.

Read in this order:

- `data`: what a step is made of, and the scratch of a thread.
- `scaling`: the factor of the mass matrix, the scaled rows, the residuals of forces.
- `springs`: the linear system for few rows, and for many rows on few velocities.
- `elimination`: the same for many bodies: sparse elimination with pivoting.
- `settle`: Newton's method on the modes; what friction's springs remember of a step.
- `place`: rows at a state of free bodies, planar mechanisms, robots, joint limits and elastic foundations.
- `march`: many steps of many motions in one call; one step of a robot.

The readable counterparts are `routh.constraints.springs` and `system`, and `routh.sim.step_through`.
"""
