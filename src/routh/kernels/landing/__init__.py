"""Whole motions of one free body over a plane, from the air to rest: flight, impacts, steps in contact.

A motion is a loop (`motion.one_landing`) over what comes next: a flight to the next touch, closed in form
but for the turning, with a bound on how soon a point can touch, so that nothing passes through the ground
(`flight`); an impact of all contacts that close within the window, one outcome of the set (`impact`); or a
step of `routh.kernels.constraints.march` where contacts hold. `books` checks each of them by momentum, cones,
energy and depth, with nothing of the solvers' own. Reading order: data, motion, flight, impact, books.
"""
