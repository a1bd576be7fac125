"""The hot loops: one scalar source, compiled for CPU threads and for NVIDIA GPUs (`routh.compiling`).

Nothing here is imported with ``routh`` itself; importing a module of this part loads LLVM. The rooms:

- `common`: random numbers, small linear algebra, loops in slices, the arrays that go in and out.
- `plane`, `space`: sampling by events; `events` is the one entry to both.
- `algorithm1`: HP23's sampler by implicit steps.
- `gradients`: derivatives of samples by events.
- `motion`: smooth motion of planar mechanisms between events.
- `constraints`: constraint forces of a step (D19), and whole motions by such steps.
- `landing`: whole landings of a free body: flight, impacts and steps in one loop.
- `gpu`: the same source, one thread a sample.
"""
