"""Numba's compiler of one function, without the passes that plain scalar code does not need.

Kernels have no closures, array expressions, `with` or generators; so nothing is looked for there. Types of
sums, products and comparisons are looked up once: numba tries some dozens of candidates each time.
"""

from __future__ import annotations

import copy
from functools import lru_cache

from numba.core import compiler, types
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    AnnotateTypes,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.typing.context import Context
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)

from routh.compiling.foreign import Foreign
from routh.compiling.lowering import LeanLowering, scalar_signature

_PASSES = (
    TranslateByteCode,
    FixupArgs,
    RewriteSemanticConstants,
    DeadBranchPrune,
    GenericRewrites,
    ReconstructSSA,
    DeadBranchPrune,
    NopythonTypeInference,
    PreLowerStripPhis,
    AnnotateTypes,
    LeanLowering,
    NoPythonBackend,
)


class KernelCompiler(compiler.CompilerBase):
    """Numba's pipeline of a kernel."""

    def define_pipelines(self) -> list[PassManager]:
        """One pipeline, in the order of numba's own."""
        passes = PassManager("routh")
        for one in _PASSES:
            passes.add_pass(one, one.__name__)
        passes.finalize()
        return [passes]


class Typing(Context):
    """Numba's typing, which remembers what operators give."""

    def _resolve_user_function_type(
        self, func: Foreign, args: Foreign, kws: Foreign, literals: Foreign = None
    ) -> Foreign:
        if kws or not isinstance(func, types.Function):
            return super()._resolve_user_function_type(func, args, kws, literals)
        key = func, tuple(args)
        if key not in self.found:
            simple = scalar_signature(func, args)
            self.found[key] = simple or super()._resolve_user_function_type(func, args, kws, literals)
        return self.found[key]


@lru_cache(maxsize=1)
def typing_of(context: Context) -> Typing:
    """Numba's typing context as a `Typing`: it shares everything that it knows."""
    made = copy.copy(context)
    made.__class__ = Typing
    made.found = {}
    return made
