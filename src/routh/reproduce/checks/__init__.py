"""What computes the verdicts of `routh reproduce --statements`: one function each, no arguments, a `Finding`.

A statement in ``said/*.toml`` names its function as "module.function". Several statements may share one.
"""
