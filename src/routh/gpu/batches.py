"""Batches of impacts whose arrays are on the GPU: checked there, and sampled where they are."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.status import InputError, Status
from routh.base.validation import frozen
from routh.compiling.foreign import Foreign
from routh.compiling.threads import layout_of, own_arrays, thread_number
from routh.gpu import device
from routh.gpu.ptx import gpu_kernel
from routh.problem.batch import ImpactBatch, mask_of, refuse_wrong
from routh.problem.impact import SMALLEST_NUMBER, SMALLEST_SPEED
from routh.problem.rows import GOOD, Problems, RowScratch, bounces, check_row, scratch_for, tiny_row

BLOCK = 128


def fill_batch(batch: ImpactBatch, given: dict[str, ArrayLike], present: ArrayLike | None) -> None:
    """Make a batch of arrays of which some are on the GPU; the others are sent there."""
    there, counts = _arrays_on_gpu(given, present)
    limits = tolerances.SYMMETRY, tolerances.APPROACH, SMALLEST_NUMBER, SMALLEST_SPEED
    wrong, approaching, bouncing = _checked(there, limits)
    refuse_wrong(wrong)
    status = np.where(approaching == 0, Status.NO_IMPACT, Status.SOLVED).astype(np.int8)
    status[counts == 0] = Status.NO_CONTACT
    known = {"_on_gpu": there, "bounces": frozen(bouncing > 0), "status": frozen(status), "reasons": {}}
    if present is not None:
        known["present"] = frozen(np.array(present))
    for name, value in known.items():
        object.__setattr__(batch, name, value)


def _arrays_on_gpu(given: dict[str, ArrayLike], present: ArrayLike | None) -> tuple[Problems, np.ndarray]:
    """The fields on the GPU, those for all rows repeated without a copy; and the contacts of each row."""
    shapes = {"v": 2, "Jn": 3, "Jt": 4, "M": 3, "mu": 2, "restitution": 2}  # axes
    there: dict[str, device.DeviceArray] = {}
    for name, axes in shapes.items():
        value = given[name]
        array = (
            device.shared(value)
            if device.is_on_gpu(value)
            else device.sent(np.array(value, dtype=np.float64))
        )
        if array.dtype != np.float64 or array.ndim > axes:
            got = f"{array.dtype} of shape {array.shape}"
            raise InputError(name, got=got, wanted=f"float64 with at most {axes} axes")
        there[name] = array
    if there["v"].ndim != 2 or there["Jn"].ndim < 2 or there["Jt"].ndim < 3 or 0 in there["v"].shape:
        raise InputError("v", got=f"shape {there['v'].shape}", wanted="(n, nv), and contacts in Jn and Jt")
    (n, nv), nc, nt = there["v"].shape, there["Jn"].shape[-2], there["Jt"].shape[-2]
    if nt not in (1, 2):
        raise InputError("Jt", got=f"shape {there['Jt'].shape}", wanted="1 or 2 tangents")
    wanted = {"v": (n, nv), "Jn": (n, nc, nv), "Jt": (n, nc, nt, nv), "M": (n, nv, nv), "mu": (n, nc)}
    for name, shape in (wanted | {"restitution": (n, nc)}).items():
        there[name] = there[name].broadcast(name, shape)
    mask = mask_of(present, n, nc) if present is not None else np.ones((1, nc), dtype=bool)
    counts = mask.sum(axis=1)
    size = np.stack([np.full(len(mask), nv), counts, np.full(len(mask), nt)], axis=1).astype(np.int32)
    there["present"] = device.sent(mask).broadcast("present", (n, nc))
    there["size"] = device.sent(size).broadcast("size", (n, 3))
    made: Foreign = there
    return Problems(**made), np.broadcast_to(counts, (n,))


@lru_cache(maxsize=16)
def _check_kernel(nv: int) -> Foreign:
    layout = layout_of(scratch_for(0, 1, nv))

    def entry(problems: Problems, limits: tuple[float, float, float, float], found: np.ndarray) -> None:
        row = thread_number()
        if row < problems.size.shape[0]:
            own = own_arrays(RowScratch, layout)
            wrong, approaching = GOOD, 0
            if problems.size[row, 1] > 0:
                wrong, approaching = check_row(problems, row, limits[0], limits[1], own)
            if wrong == GOOD:
                wrong = tiny_row(problems, row, limits[2], limits[3])
            found[0, row], found[1, row] = wrong, approaching
            found[2, row] = 1 if bounces(problems, row) else 0

    return gpu_kernel(entry)


def _checked(problems: Problems, limits: tuple[float, float, float, float]) -> np.ndarray:
    """What is wrong with each row of problems on the GPU, its approaching contacts, whether it bounces.

    (3, rows). ``limits``: for symmetry and approach, and the least masses and speeds.
    """
    rows, _, _, nv = problems.Jt.shape
    there = device.empty((3, rows), np.int32)
    _check_kernel(nv)[-(-rows // BLOCK), BLOCK](problems, limits, there)
    found = np.empty((3, rows), np.int32)
    there.copy_to_host(found)
    return found
