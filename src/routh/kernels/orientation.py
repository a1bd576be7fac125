"""Where a planar step has several solutions: the regions of negative orientation.

With ``lambda_n = clip(w_n, 0, lambda_max)`` and ``lambda_t = clip(w_t, -mu lambda_n, mu lambda_n)`` a step is
one piecewise linear equation ``c + (G - I) lambda(w) + w = 0``. Its degree is +1, because for large t Lemke's
perturbed step has exactly one solution, so at almost every input the signs of the pieces' determinants
``det(G D + I - D)``, ``D = d lambda / d w``, sum to one over its solutions. Hence a step has more than one
solution exactly where some piece of negative sign holds; outside those regions whatever basis holds is *the*
solution, Lemke's too.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from routh.kernels.basis import FREE, OPEN, UPPER
from routh.kernels.prepare import KernelData
from routh.kernels.regions import ContactState, Region, build_region, sticking
from routh.validation import Array

MOST_CONTACTS = 5  # 5^nc determinants
MOST_REGIONS = 64  # a longer list would cost more than the pivoting that it saves
REGULAR = 1e-9  # added to the scaled Delassus matrix: redundant contacts have pieces of determinant zero


def ambiguous_regions(data: KernelData) -> list[Region] | None:
    """Regions in which a planar step has several solutions; None where they were not listed.

    None means: the problem is not planar, has too many contacts, or too many such regions.
    """
    nc, nt = data.shape
    if nt != 1 or nc > MOST_CONTACTS:
        return None
    choices = [_pieces(float(mu)) for mu in data.mu]
    codes = np.array(list(product(range(len(choices[0])), repeat=nc)))  # (5^nc, nc)
    slopes = np.zeros((len(codes), 2 * nc, 2 * nc))
    for i in range(nc):
        blocks = np.stack([slope for slope, _ in choices[i]])
        slopes[:, 2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = blocks[codes[:, i]]
    identity = np.eye(2 * nc)
    signs = np.linalg.det((data.G + REGULAR * identity) @ slopes + identity - slopes)
    negative = codes[signs < 0.0]
    found: list[Region] = []
    for code in negative:
        for state in product(*(choices[i][j][1] for i, j in enumerate(code))):
            region = build_region(data, state)
            if region is not None:
                found.append(region)
            if len(found) > MOST_REGIONS:
                return None
    return found


def _pieces(mu: float) -> list[tuple[Array, list[ContactState]]]:
    """The slopes ``D`` of one contact's impulses with the contact states that have them."""
    slide = [
        (np.array([[1.0, 0.0], [sign * mu, 0.0]]), [(FREE, a, -1, 1)]) for a, sign in ((0, 1.0), (1, -1.0))
    ]
    return [
        (np.zeros((2, 2)), [(OPEN, -1, -1, 0), (UPPER, 0, -1, 1), (UPPER, 1, -1, 1)]),
        (np.eye(2), [sticking(FREE, 1, 2)]),
        (np.diag([0.0, 1.0]), [sticking(UPPER, 1, 2)]),
        *slide,
    ]
