"""What kernels of several rooms use."""
