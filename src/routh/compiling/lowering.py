"""From numba's typed functions to LLVM's language in few words.

Numba writes some fifty instructions for one element of an array (its copy on the stack, shape and strides
twice over, indices from the end), keeps every old value of a variable for reference counts, and asks its
tables for each sum. LLVM throws nearly all of it away again, after both have worked on it for seconds.
Kernels are scalar and count no references: here an element takes ten instructions, and less where an index is
a constant. What is not known here is left to numba.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial

from llvmlite.ir import Constant, IntType, Undefined  # type: ignore[import-untyped]
from numba.core import ir
from numba.core import types as numba_types
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering
from numba.core.typing import signature

from routh.compiling.foreign import Foreign

types: Foreign = numba_types  # a module without types of its own
_COMPARISONS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
_ARITHMETIC = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "div",
    operator.iadd: "add",
    operator.isub: "sub",
    operator.imul: "mul",
    operator.itruediv: "div",
}


class LeanLower(Lower):
    """Numba's lowering, shorter where kernels are plain: elements of arrays, variables, loops, sums."""

    def init(self) -> None:
        """What is known before the first statement."""
        super().init()
        self._singly_assigned_vars |= _settled_at_once(self.func_ir.blocks)
        self._places = self._only_places()
        self._parts: dict[str, list[Foreign]] = {}  # tuples that are nothing but places in arrays
        self._bounds: dict[int, tuple[Foreign, Foreign]] = {}  # first and end of loops in steps of one

    def _only_places(self) -> set[str]:
        """Tuples of which nothing but elements of arrays are taken: they need not be made."""
        made, used = set(), set()
        for block in self.func_ir.blocks.values():
            for statement in block.body:
                value = statement.value if isinstance(statement, ir.Assign) else statement
                if isinstance(value, ir.Expr) and value.op == "build_tuple":
                    made.add(statement.target.name)
                    used |= {one.name for one in value.items}
                else:
                    used |= _used_elsewhere(statement, self._place(value))
        return (made & self._singly_assigned_vars) - used

    def _place(self, value: Foreign) -> Foreign:
        """The index of an element of an array; None where something else is done."""
        kind = type(value)
        if kind is ir.SetItem or (kind is ir.Expr and value.op == "getitem"):
            array, index = (value.target if kind is ir.SetItem else value.value), value.index
        elif kind is ir.StaticSetItem or (kind is ir.Expr and value.op == "static_getitem"):
            array, index = (value.target if kind is ir.StaticSetItem else value.value), value.index_var
        else:
            return None
        return index if self._is_element(array, index) else None

    def lower_block(self, block: Foreign) -> None:
        """As numba does, with the words of an error put together only where there is one."""
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            try:
                self.lower_inst(statement)
            except Exception as error:
                error.add_note(f"lowering {statement} at {statement.loc}")
                raise
        self.post_block(block)

    def lower_inst(self, inst: Foreign) -> None:
        """One statement."""
        kind = type(inst)
        if kind is ir.Assign:
            name = inst.target.name
            if name in self._places:
                self._parts[name] = [self._cast_var(one, types.intp) for one in inst.value.items]
            else:
                self.storevar(self.lower_assign(self.typeof(name), inst), name)
        elif (place := self._place(inst)) is not None:
            self._store(inst.target, place, inst.value)
        elif kind is not ir.Del:
            super().lower_inst(inst)

    def storevar(self, value: Foreign, name: str, argidx: int | None = None) -> None:
        """Store a value; nobody counts references to the old one."""
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Foreign, datamodel: Foreign = None) -> Foreign:
        """Room for a variable; it is stored to before it is read."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)

    def lower_call(self, resty: Foreign, expr: Foreign) -> Foreign:
        """A call; of ``range(first, end)`` the bounds are remembered."""
        signature = self.fndesc.calltypes[expr]
        emit = _scalar_call(self.typeof(expr.func.name), signature.args)
        if emit is not None:
            kind = signature.return_type
            given = [
                self._cast_var(one, types.unliteral(to))
                for one, to in zip(expr.args, signature.args, strict=True)
            ]
            return self.context.cast(self.builder, emit(self, given), kind, resty)
        result = super().lower_call(resty, expr)
        if resty == types.range_state64_type and len(expr.args) < 3 and not expr.vararg:
            given = [self._cast_var(one, types.int64) for one in expr.args]
            first = given[0] if len(given) == 2 else Constant(IntType(64), 0)
            self._bounds[id(result)] = first, given[-1]
        return result

    def lower_expr(self, resty: Foreign, expr: Foreign) -> Foreign:
        """One expression."""
        if expr.op == "getiter" and id(self.loadvar(expr.value.name)) in self._bounds:
            return self._begin_loop(*self._bounds[id(self.loadvar(expr.value.name))])
        if expr.op == "iternext" and self.typeof(expr.value.name) == types.range_iter64_type:
            return self._next_turn(self.loadvar(expr.value.name), resty)
        place = self._place(expr)
        if place is not None:
            return self._load(resty, expr.value, place)
        if expr.op == "getattr":
            value = self.typeof(expr.value.name)
            if isinstance(value, types.BaseNamedTuple) and expr.attr in value.fields:
                field = value.fields.index(expr.attr)
                return self.builder.extract_value(self.loadvar(expr.value.name), field)
        return super().lower_expr(resty, expr)

    def lower_binop(self, resty: Foreign, expr: Foreign, op: Foreign) -> Foreign:
        """Sums, products, quotients and comparisons of two floats or of two signed integers."""
        signature = self.fndesc.calltypes[expr]
        left, right = signature.args
        if left == right and (op in _COMPARISONS or op in _ARITHMETIC):
            emit = self._operation(op, left, signature.return_type)
            if emit is not None:
                given = [self._cast_var(expr.lhs, left), self._cast_var(expr.rhs, right)]
                return self.context.cast(self.builder, emit(*given), signature.return_type, resty)
        return super().lower_binop(resty, expr, op)

    def _operation(self, op: Foreign, kind: Foreign, result: Foreign) -> Callable[..., Foreign] | None:
        """What writes ``op`` of two numbers of a kind."""
        build = self.builder
        if kind == types.float64:
            if op in _COMPARISONS:
                compare = build.fcmp_unordered if op is operator.ne else build.fcmp_ordered
                return partial(compare, _COMPARISONS[op])
            found: Callable[..., Foreign] = getattr(build, "f" + _ARITHMETIC[op])
            return found if result == types.float64 else None
        if kind == types.int64:
            if op in _COMPARISONS:
                return partial(build.icmp_signed, _COMPARISONS[op])
            if result == types.int64:
                return partial(getattr(build, _ARITHMETIC[op]), flags=["nsw"])
        return None

    def _is_element(self, array: Foreign, index: Foreign) -> bool:
        """Whether this is one element of a dense array."""
        kind = self.typeof(array.name)
        if not isinstance(kind, types.Array) or kind.layout != "C" or index is None:
            return False
        if self.context.enable_boundscheck:
            return False
        at = self.typeof(index.name)
        places = at.types if isinstance(at, types.BaseTuple) else (at,)
        return len(places) == kind.ndim and all(isinstance(one, types.Integer) for one in places)

    def _element(self, array: Foreign, index: Foreign) -> Foreign:
        """The address of an element."""
        build, kind = self.builder, self.typeof(array.name)
        struct = self.loadvar(array.name)
        layout = list(self.context.data_model_manager[kind]._fields)
        data = build.extract_value(struct, layout.index("data"))
        shape = [build.extract_value(struct, [layout.index("shape"), k]) for k in range(kind.ndim)]
        numbers = [
            _from_the_start(build, number, length)
            for number, length in zip(self._numbers(index), shape, strict=True)
        ]
        return build.gep(data, [_offset(build, numbers, shape[1:])])

    def _numbers(self, index: Foreign) -> list[Foreign]:
        """An index, or the indices of a tuple."""
        if index.name in self._parts:
            return self._parts[index.name]
        at = self.typeof(index.name)
        if not isinstance(at, types.BaseTuple):
            return [self._cast_var(index, types.intp)]
        build, place = self.builder, self.loadvar(index.name)
        return [
            self.context.cast(build, build.extract_value(place, k), one, types.intp)
            for k, one in enumerate(at.types)
        ]

    def _begin_loop(self, first: Foreign, end: Foreign) -> Foreign:
        """Numba's iterator over integers in steps of one: where it is, its end, step, and turns to go."""
        build, whole = self.builder, IntType(64)
        with build.goto_entry_block():
            place, count = build.alloca(whole), build.alloca(whole)
        turns = build.sub(end, first)
        build.store(first, place)
        build.store(build.select(build.icmp_signed(">", turns, whole(0)), turns, whole(0)), count)
        made = Constant(self.context.get_value_type(types.range_iter64_type), Undefined)
        for k, part in enumerate((place, end, whole(1), count)):
            made = build.insert_value(made, part, k)
        return made

    def _next_turn(self, iterator: Foreign, pair: Foreign) -> Foreign:
        """The next integer, and whether there is one."""
        build, whole = self.builder, IntType(64)
        place, step, count = (build.extract_value(iterator, k) for k in (0, 2, 3))
        value, turns = build.load(place), build.load(count)
        build.store(build.add(value, step), place)
        build.store(build.sub(turns, whole(1)), count)
        made = Constant(self.context.get_value_type(pair), Undefined)
        made = build.insert_value(made, value, 0)
        return build.insert_value(made, build.icmp_signed(">", turns, whole(0)), 1)

    def _load(self, resty: Foreign, array: Foreign, index: Foreign) -> Foreign:
        kind = self.typeof(array.name)
        align = None if kind.aligned else 1
        value = self.context.unpack_value(self.builder, kind.dtype, self._element(array, index), align=align)
        return self.context.cast(self.builder, value, kind.dtype, resty)

    def _store(self, array: Foreign, index: Foreign, value: Foreign) -> None:
        kind = self.typeof(array.name)
        align = None if kind.aligned else 1
        given = self._cast_var(value, kind.dtype)
        self.context.pack_value(self.builder, kind.dtype, given, self._element(array, index), align=align)


def scalar_signature(function: Foreign, arguments: Sequence[Foreign]) -> Foreign:
    """The signature of a call that `LeanLower` writes itself; None: numba's business.

    For numba these are functions to be compiled, each for some hundredth of a second.
    """
    if _scalar_call(function, arguments) is None:
        return None
    result = types.int64 if function.typing_key is int else types.float64
    return signature(result, *map(types.unliteral, arguments))


def _scalar_call(function: Foreign, arguments: Sequence[Foreign]) -> Callable[..., Foreign] | None:
    """What writes a call of ``max`` or ``min`` of floats, or of ``int``."""
    called = getattr(function, "typing_key", None)
    kinds = list(map(types.unliteral, arguments))
    if (called is max or called is min) and len(kinds) > 1 and set(kinds) == {types.float64}:
        return partial(_write_extreme, ">" if called is max else "<")
    if called is int and kinds in ([types.float64], [types.int64], [types.boolean]):
        return partial(_write_whole, kinds[0])
    return None


def _write_extreme(sign: str, lower: LeanLower, given: Sequence[Foreign]) -> Foreign:
    """Python's ``max`` or ``min``: the first one, but where a later one is beyond it; NaN never is."""
    found = given[0]
    for value in given[1:]:
        beyond = lower.builder.fcmp_ordered(sign, value, found)
        found = lower.builder.select(beyond, value, found)
    return found


def _write_whole(kind: Foreign, lower: LeanLower, given: Sequence[Foreign]) -> Foreign:
    """Python's ``int``."""
    return lower.context.cast(lower.builder, given[0], kind, types.int64)


def _settled_at_once(blocks: dict[int, Foreign]) -> set[str]:
    """Variables that are set once, in the first block, which comes before everything else."""
    first = min(blocks)
    at_first, elsewhere = [], set()
    for offset, block in blocks.items():
        names = [statement.target.name for statement in block.find_insts(ir.Assign)]
        if offset == first:
            at_first = names
        else:
            elsewhere.update(names)
    return {name for name in at_first if at_first.count(name) == 1} - elsewhere


def _used_elsewhere(statement: Foreign, place: Foreign) -> set[str]:
    """The variables of a statement but the one that is its place in an array."""
    names = [one.name for one in statement.list_vars()]
    if place is not None:
        names.remove(place.name)
    return set(names)


def _from_the_start(build: Foreign, number: Foreign, length: Foreign) -> Foreign:
    """An index; negative ones count from the end."""
    if isinstance(number, Constant):
        return number if number.constant >= 0 else build.add(length, number)
    return build.select(build.icmp_signed("<", number, IntType(64)(0)), build.add(number, length), number)


def _offset(build: Foreign, numbers: Sequence[Foreign], shape: Sequence[Foreign]) -> Foreign:
    """The place in memory of an element, in elements: the last index runs fastest."""
    offset = numbers[0]
    for number, length in zip(numbers[1:], shape, strict=True):
        offset = build.add(build.mul(offset, length, flags=["nsw"]), number, flags=["nsw"])
    return offset


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(BaseNativeLowering):
    """The pass that runs `LeanLower`."""

    _name = "routh_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """`LeanLower`."""
        return LeanLower
