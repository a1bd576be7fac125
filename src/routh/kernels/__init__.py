"""The hot loops: one scalar source, compiled for CPU threads and for NVIDIA GPUs (`routh.compiling`).

Nothing here is imported with ``routh`` itself; importing a module of this part loads LLVM.
"""
