"""Sampling on an NVIDIA GPU: the scalar source of the CPU, one thread for each sample.

Nothing here is physics. These modules give each thread its sample, its row of data and its local arrays,
whose sizes are known when a kernel is compiled, so there is one kernel for each number of contacts.

Read in this order:

- `memory`: arrays on the GPU, made together, copied when asked for.
- `events`: launches of samplers, the sampler in space, batches.
- `plane`: the plane's quick kernel, which looks rates up and leaves what it does not know to the full one.
- `fold`, `judge`: what samples say, found where they are, so that only small tables are copied.
"""
