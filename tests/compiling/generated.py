"""Random programs of everything that a kernel may contain, as source text; see `test_generated.py`."""

from random import Random

HEAD = """
import math
from typing import NamedTuple

import numpy as np

from routh.compiling import inlined, kernel


class Inner(NamedTuple):
    counts: np.ndarray
    gain: float


class State(NamedTuple):
    values: np.ndarray
    inner: Inner
    level: int


LEVEL, SHARE, TABLE, MASK = 3, 0.75, np.array([[1.5, -2.0], [0.0, 1e300]]), np.uint64(0xFFFF)


@kernel
def quotient(a, b):
    return a // b, a % b


@inlined
def first_above(values, bound):
    for i in range(len(values)):
        if values[i] > bound:
            return i
    return -1


@kernel
def stirred(state, by):
    for i in range(state.values.shape[0]):
        state.values[i] = by - state.values[i]
    state.inner.counts[0] += state.level
    return State(state.values, state.inner, state.level + 1)


"""


INTEGER = ["+", "-", "*", "&", "|", "^", "//", "%"]


class Programs:
    """Writes functions ``(x, y, k, m, u, flag, values, grid, whole, state, out)``; a name has one kind."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.fresh = 0

    def one_of(self, *choices):
        return self.rng.choice(choices)

    def name(self, kind):
        return self.rng.choice(self.names[kind])

    # expressions

    def real(self, depth):
        r, d = self.rng, depth - 1
        if depth <= 0:
            return self.one_of(
                self.name("f"), self.name("f"), "0.5", "-0.0", "2.0", "1e-3", "SHARE", "state.inner.gain",
                "math.inf",
                f"values[{self.index('len(values)', 0)}]", "TABLE[1, 0]",
            )  # fmt: skip
        return self.one_of(
            lambda: f"({self.real(d)} {r.choice('+-*/')} {self.real(d)})",
            lambda: f"({self.whole(d)} {r.choice('+-*/')} {self.real(d)})",
            lambda: f"({self.whole(d)} / {self.whole(d)})",
            lambda: f"float({r.choice(['min', 'max'])}({self.real(d)}, {self.real(d)}, {self.whole(0)}))",
            lambda: f"abs({self.real(d)})",
            lambda: f"(-{self.real(d)})",
            lambda: f"math.sqrt({self.real(d)})",
            lambda: f"({self.real(d)} if {self.test(d)} else {self.real(d)})",
            lambda: f"float({self.whole(d)})",
            lambda: f"values[{self.index('values.shape[0]', d)}]",
            lambda: f"grid[{self.index('grid.shape[0]', d)}, {self.index('grid.shape[1]', 0)}]",
            lambda: f"grid[{self.index('len(grid)', 0)}][{self.index('grid.shape[1]', 0)}]",
            lambda: f"state.values[{self.index('len(state.values)', d)}]",
            lambda: f"TABLE[{self.whole(d)} % 2, {self.whole(0)} % 2]",
            lambda: f"math.expm1({self.real(d)})",
        )()

    def whole(self, depth):
        r, d = self.rng, depth - 1
        if depth <= 0:
            return self.one_of(
                # sums with a variable: numbers of Python itself neither wrap around nor divide by zero
                self.name("i"), self.name("i"), "(k ^ k)", "(m * 0 + 1)", "(k | -1)", "(7 - 0 * m)",
                "(LEVEL + k * 0)", "state.level", "len(values)",
                f"int(whole[{self.index('len(whole)', 0)}])",
            )  # fmt: skip
        return self.one_of(
            lambda: f"({self.whole(d)} {r.choice(INTEGER)} {self.whole(d)})",
            lambda: f"({self.whole(d)} {r.choice(['<<', '>>'])} ({self.whole(0)} % 64))",
            lambda: f"({self.whole(d)} // {r.choice([1, -1, 2, -3, 7])})",
            lambda: f"({self.whole(d)} % {r.choice([1, -1, 2, -3, 7])})",
            lambda: f"{r.choice(['min', 'max'])}({self.whole(d)}, {self.whole(d)})",
            lambda: f"({self.whole(d)} if {self.test(d)} else {self.whole(d)})",
            lambda: f"int({self.real(d)})",
            lambda: f"int({self.test(d)})",
            lambda: f"quotient({self.whole(d)}, {self.whole(d)})[{r.randrange(2)}]",
            lambda: f"first_above(values, {self.real(d)})",
            lambda: f"int({self.bits(d)} & MASK)",
            lambda: f"int(state.inner.counts[{self.index('len(state.inner.counts)', d)}])",
            lambda: f"(-{self.whole(d)})",
        )()

    def bits(self, depth):
        if depth <= 0:
            return self.one_of(self.name("u"), "MASK", "np.uint64(11)")
        d = depth - 1
        return self.one_of(
            lambda: f"({self.bits(d)} {self.rng.choice(INTEGER)} {self.bits(d)})",
            lambda: f"({self.bits(d)} {self.rng.choice(['<<', '>>'])} np.uint64({self.rng.randrange(64)}))",
            lambda: f"np.uint64(abs({self.name('i')} % 1000))",
        )()

    def test(self, depth):
        r, d = self.rng, depth - 1
        order = ["<", "<=", ">", ">=", "==", "!="]
        if depth <= 0:
            return self.one_of("flag", f"{self.real(0)} {r.choice(order)} {self.real(0)}", "True")
        return self.one_of(
            lambda: f"({self.real(d)} {r.choice(order)} {self.real(d)})",
            lambda: f"({self.whole(d)} {r.choice(order)} {self.whole(d)})",
            lambda: f"({self.bits(d)} {r.choice(order)} {self.bits(d)})",
            lambda: f"({self.real(d)} {r.choice(order)} {self.real(0)} {r.choice(order)} {self.real(d)})",
            lambda: f"({self.test(d)} {r.choice(['and', 'or'])} {self.test(d)})",
            lambda: f"(not {self.test(d)})",
            lambda: f"({self.whole(d)} in (0, {self.whole(0)}, LEVEL))",
            lambda: f"math.isfinite({self.real(d)})",
            lambda: f"math.isnan({self.real(d)})",
        )()

    def index(self, length, depth):
        """An index within bounds, from the start or from the end."""
        where = f"{self.whole(depth) if depth else self.name('i')} % {length}"
        return self.one_of(where, f"-1 - {where}", where)

    # statements

    def expression(self, kind):
        write = {"f": self.real, "i": self.whole, "u": self.bits, "b": self.test}[kind]
        return write(self.rng.randrange(1, 3))

    def suite(self, depth, lines):
        pad = "    " * depth
        known = {kind: list(names) for kind, names in self.names.items()}
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(depth, pad, lines)
        self.names = known

    def statement(self, depth, pad, lines):
        r = self.rng
        kind = r.choice("fffiiu")
        what = r.randrange(12 if depth < 3 else 6)
        if what == 0:
            self.fresh += 1
            lines.append(f"{pad}n{self.fresh} = {self.expression(kind)}")
            self.names[kind].append(f"n{self.fresh}")
        elif what == 1:
            own = [name for name in self.names[kind] if name not in self.counters]
            lines.append(f"{pad}{r.choice(own)} = {self.expression(kind)}")
        elif what == 2:
            own = [name for name in self.names["i"] if name not in self.counters]
            lines.append(f"{pad}{r.choice(own)} {r.choice(['+', '-', '*', '^'])}= {self.expression('i')}")
        elif what == 3:
            target = self.one_of(
                f"values[{self.index('len(values)', 1)}]",
                f"grid[{self.index('grid.shape[0]', 0)}, {self.index('grid.shape[1]', 1)}]",
                f"state.values[{self.index('len(state.values)', 0)}]",
                f"values[1:][{self.index('len(values[1:])', 0)}]",
            )
            lines.append(f"{pad}{target} {r.choice(['=', '+=', '-=', '*=', '/='])} {self.expression('f')}")
        elif what == 4:
            lines.append(f"{pad}whole[{self.index('len(whole)', 1)}] = {self.expression('i')} % 100")
        elif what == 5:
            lines.append(f"{pad}x, y = y, {self.expression('f')}")
        elif what in (6, 7):
            lines.append(f"{pad}if {self.expression('b')}:")
            self.suite(depth + 1, lines)
            if r.random() < 0.5:
                lines.append(f"{pad}else:")
                self.suite(depth + 1, lines)
        elif what == 8:
            self.loop(depth, pad, lines)
        elif what == 9:
            self.fresh += 1
            lines += [f"{pad}w{self.fresh} = 0", f"{pad}while w{self.fresh} < {r.randrange(1, 5)}:"]
            lines.append(f"{pad}    w{self.fresh} += 1")
            self.leave(pad, lines)
            self.suite(depth + 1, lines)
        elif what == 10:
            self.fresh += 1
            lines.append(f"{pad}for s{self.fresh} in (1.0, {self.real(0)}, -0.5):")
            self.leave(pad, lines)
            self.names["f"].append(f"s{self.fresh}")
            self.counters.append(f"s{self.fresh}")
            self.suite(depth + 1, lines)
            self.names["f"] = [name for name in self.names["f"] if name not in self.counters]
        else:
            lines.append(f"{pad}state = stirred(state, {self.expression('f')})")

    def leave(self, pad, lines):
        if self.rng.random() < 0.6:
            lines += [f"{pad}    if {self.expression('b')}:"]
            lines += [f"{pad}        {self.one_of('break', 'continue')}"]

    def loop(self, depth, pad, lines):
        r = self.rng
        self.fresh += 1
        counter = f"c{self.fresh}"
        bounds = self.one_of(
            f"{r.randrange(4)}", f"{r.randrange(-2, 2)}, {r.randrange(4)}", "3, -1, -1", "0, 5, 2",
            "len(values)", f"({self.whole(1)}) % 4",
        )  # fmt: skip
        lines.append(f"{pad}for {counter} in range({bounds}):")
        before = list(self.names["i"])
        self.names["i"].append(counter)
        self.counters.append(counter)
        self.leave(pad, lines)
        self.suite(depth + 1, lines)
        self.names["i"] = before
        if r.random() < 0.3:
            lines += [f"{pad}else:", f"{pad}    out[3] += 1.0"]

    def function(self, name):
        """The text of a kernel."""
        self.names = {"f": ["x", "y"], "i": ["k", "m"], "u": ["u"]}
        self.counters = []
        lines = ["@kernel", f"def {name}(x, y, k, m, u, flag, values, grid, whole, state, out):"]
        for _ in range(3):
            self.suite(1, lines)
        if self.rng.random() < 0.5:
            lines += [f"    if {self.expression('b')}:"]
            lines += [f"        return {self.real(1)}, {self.whole(1)}, u, flag"]
        lines += ["    out[0], out[1], out[2] = x, y, float(k)"]
        lines += [f"    return {self.real(2)}, m, u, {self.test(1)}", "", ""]
        return "\n".join(lines)
