"""Sampling by events in the plane: one tangent direction, so every piece of a path is a straight line.

A path goes through velocities of the contacts, ``c = (y_1, t_1, y_2, ...)``, normal first, in the problem's
own units. A *piece* of it has constant impulse rates r and changes ``c' = G r``; it ends at an *event*: a
normal velocity or a slip comes to zero. At each event it is drawn anew who pushes and at which relative rate,
so any order of the impulses that Routh's method allows can come about (HP23 (39)).

Read in this order:

- `roles`: what is drawn at an event: which contacts are driven, held at rest, on the edge, left alone.
- `rates`: from roles to impulse rates: friction by slip, or as near to holding the contact as it can.
- `pieces`: how far a piece goes, what it does to velocities, impulse and restitution, and its check.
- `sample`: one sample from before to after, and a range of them.

The same in two hundred lines of NumPy, to be read first: ``tests/sampling/event_reference.py``.
"""
