"""The hot loops: one scalar source, compiled for CPU threads by numba and for NVIDIA GPUs by numba-cuda.

Nothing here is imported with ``routh`` itself; importing a module of this part loads numba.
"""
