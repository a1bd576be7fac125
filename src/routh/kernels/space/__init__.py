"""Sampling by events in space: friction is a vector on a disc (Coulomb's cone) or in a polygon.

A path goes through velocities of the contacts, ``c = (y_1, t_1, y_2, ...)`` with t in the tangent plane, and
changes by ``c' = G r`` while impulse rates ``r = (n, f)`` push. At each event it is drawn who pushes at which
relative rate and who is held; friction then opposes slip, and where slip is zero it is what holds the contact
or comes nearest to that. With polygons a piece is straight. With the cone friction turns with the slip, so a
piece is a curve: where slips are large a power series follows it, where contacts stick or slip slowly beside
each other implicit steps do, which take rates that are nearly singular. Theory: ``docs/theory/space.md``.

Read in this order:

- `workspace`: the vectors and numbers of one sample, by name.
- `draws`: who pushes at which rate, who is held, how long it lasts.
- `friction`, `rates`, `newton`: rates for given roles; of one contact, in sweeps over contacts, and by
  Newton's method on all at once where sweeps would not end.
- `pieces`: a piece for drawn roles, up to its first event; it is one of `straight`, `curve`, `implicit`.
- `equations`, `series`, `single_series`, `curve_events`: what a curve is made of, and its events.
- `advance`: what a piece does to velocities, impulse, the books of restitution and the trace; its checks.
- `sample`: one sample from before to after, and many.

A readable reference that draws the same samples: ``tests/sampling/space_reference.py``.
"""
