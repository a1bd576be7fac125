"""A user's own function for relative rates, called from compiled code by its address."""

from __future__ import annotations

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba import carray, types
from numba.extending import intrinsic

from routh.compiling.foreign import Foreign

_SIGNATURE = types.void(
    types.CPointer(types.float64), types.CPointer(types.boolean), types.CPointer(types.float64), types.int64
)


def rates_function(function: Foreign) -> Foreign:
    """The C function of ``function(uniforms, approaching, out) -> None``, compiled by numba.

    Keep what is returned alive while its ``.address`` is in use.
    """
    if not isinstance(function, numba.core.dispatcher.Dispatcher):
        raise ValueError(
            f"rates: got {function!r}; wanted a function (uniforms, approaching, out) compiled by numba.njit"
        )

    def call(uniforms: Foreign, approaching: Foreign, out: Foreign, n: int) -> None:
        function(carray(uniforms, (n,)), carray(approaching, (n,)), carray(out, (n,)))

    try:
        return numba.cfunc(_SIGNATURE)(call)
    except numba.core.errors.TypingError as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise ValueError(
            f"rates: numba cannot compile it for arrays of float, bool, float ({lines[0]})"
        ) from None


@intrinsic
def call_rates(
    typing: Foreign, address: Foreign, uniforms: Foreign, approaching: Foreign, out: Foreign, n: Foreign
) -> tuple[Foreign, Foreign]:
    """Call the function at ``address`` with three arrays, of which it sees the first ``n`` entries."""

    def lower(context: Foreign, builder: Foreign, signature: Foreign, arguments: Foreign) -> Foreign:
        pointers = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[1:4], arguments[1:4], strict=True)
        ]
        kind = ir.FunctionType(ir.VoidType(), [*(pointer.type for pointer in pointers), arguments[4].type])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, [*pointers, arguments[4]])
        return context.get_dummy_value()

    return types.none(address, uniforms, approaching, out, n), lower


call_rates.is_at_address = True  # what is translated without numba calls it as C does
