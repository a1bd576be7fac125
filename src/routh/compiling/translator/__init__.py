"""From the source of a kernel to a program in LLVM's language: begin with `program`, its last module."""
