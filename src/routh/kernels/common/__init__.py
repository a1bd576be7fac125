"""What kernels of several rooms use: nothing here knows of contacts or friction.

- `integers`: integers of 64 bits.
- `random`: the counter-based generator, the numbers of `routh.rng` bit for bit.
- `small_linear`: linear systems of a few unknowns.
- `slices`: a compiled loop over samples in slices, by threads, with a budget of time.
"""
