"""A cone program put together block by block, and solved by Clarabel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from routh.base.validation import Array
from routh.lcp import convex

Term = tuple[np.ndarray, Array]  # indices of variables, and their coefficients (rows x indices, or indices)
Entry = tuple[ArrayLike, np.ndarray, Array]  # rows, columns and values, of one shape


class ConeProgram:
    """Minimise a linear cost of free variables under blocks ``constant + rows x`` in a cone."""

    def __init__(self) -> None:
        self._count = 0
        self._height = 0
        self._entries: list[tuple[np.ndarray, np.ndarray, Array]] = []
        self._constants: list[Array] = []
        self._cones: list[tuple[str, int]] = []

    def variables(self, *shape: int) -> np.ndarray:
        """Indices of new variables, in an array of this shape."""
        size = int(np.prod(shape))
        self._count += size
        return np.arange(self._count - size, self._count).reshape(shape)

    def symmetric(self, n: int) -> np.ndarray:
        """Indices (n, n) of a new symmetric matrix."""
        table = np.zeros((n, n), dtype=int)
        upper = np.triu_indices(n)
        table[upper] = self.variables(len(upper[0]))
        return np.maximum(table, table.T)

    def nonnegative(self, indices: np.ndarray) -> None:
        """Variables that must not be negative."""
        self._block([(np.arange(len(indices)), indices, np.ones(len(indices)))], len(indices), "nonnegative")

    def below(self, rows: Array, indices: np.ndarray) -> None:
        """``rows x <= 0``."""
        row, column = np.indices(rows.shape)
        self._block([(row, indices[column], -rows)], len(rows), "nonnegative")

    def second_order(self, head: Sequence[Term], tail: Sequence[Term]) -> None:
        """``|tail| <= head``, each a sum of terms."""
        size = 1 + len(tail[0][1])
        entries: list[Entry] = [(np.zeros(len(i), dtype=int), i, values) for i, values in head]
        for indices, values in tail:
            row, column = np.indices(values.shape)
            entries.append((row + 1, indices[column], values))
        self._block(entries, size, "second order")

    def semidefinite(
        self,
        square: Sequence[tuple[int, Array]],
        linear: Sequence[Term],
        corner: Sequence[Term],
        shift: Array,
    ) -> None:
        """``u.square.u + (linear + shift).u + corner >= 0`` for all u, as a matrix inequality."""
        n = len(shift)
        place = {(i, j): k for k, (i, j) in enumerate((i, j) for j in range(n + 1) for i in range(j + 1))}
        diagonal = np.array([place[i, i] for i in range(n)])
        edge = np.array([place[i, n] for i in range(n)])
        upper = np.triu_indices(n, 1)
        beside = np.array([place[int(i), int(j)] for i, j in zip(*upper, strict=True)])
        entries: list[Entry] = []
        for index, matrix in square:
            entries.append((diagonal, np.full(n, index), np.diag(matrix)))
            entries.append((beside, np.full(len(beside), index), np.sqrt(2.0) * matrix[upper]))
        for indices, values in linear:
            row, column = np.indices(values.shape)
            entries.append((edge[row], indices[column], np.sqrt(0.5) * values))
        entries += [(np.full(len(i), place[n, n]), i, values) for i, values in corner]
        constant = np.zeros(len(place))
        constant[edge] = np.sqrt(0.5) * shift
        self._block(entries, len(place), "semidefinite", constant, n + 1)

    def minimise(self, cost: Sequence[Term]) -> Array | None:
        """The minimiser, or None where the solver fails; a nearly optimal one counts."""
        rows, columns, values = (np.concatenate(parts) for parts in zip(*self._entries, strict=True))
        table = sparse.csc_matrix((-values, (rows, columns)), shape=(self._height, self._count))
        table.eliminate_zeros()
        weights = np.zeros(self._count)
        for indices, coefficients in cost:
            np.add.at(weights, indices, coefficients)
        answer = convex.minimise(weights, table, np.concatenate(self._constants), self._cones)
        return answer.x if answer.solved else None

    def _block(
        self, entries: Sequence[Entry], height: int, kind: str, constant: Array | None = None, size: int = 0
    ) -> None:
        for row, column, value in entries:
            self._entries.append((np.ravel(row) + self._height, column.ravel(), value.ravel()))
        self._constants.append(np.zeros(height) if constant is None else constant)
        self._cones.append((kind, size or height))
        self._height += height
