"""What kernels of several rooms use.

- `random`: the counter-based generator, the numbers of `routh.base.rng` bit for bit.
- `small_linear`: linear systems of a few unknowns.
- `one_contact`: friction of one contact on its disc, and brackets.
- `arrays`: problems that go in and samples that come out; `judge`: what samples say, row by row.
- `callback`: a user's own function for relative rates.
- `slices`: a compiled loop over samples in slices, by threads, with a budget of time.
"""
