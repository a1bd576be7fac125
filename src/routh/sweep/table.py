"""Studies as tables: xarray in memory; NetCDF and CSV for others to read.

NetCDF in its classic format is written by SciPy, which is installed anyway, and read by everything that reads
NetCDF at all, on every architecture; Zarr would bring a package and a folder of files for the same numbers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from routh.status import optional
from routh.storage import replacing
from routh.sweep.driver import status_name
from routh.sweep.manifest import Plan

if TYPE_CHECKING:
    import xarray


def dataset(plan: Plan, columns: dict[str, np.ndarray]) -> xarray.Dataset:
    """The columns of a study on its axes."""
    xr = optional("xarray", "data")
    axes = plan.grid.axes
    names = list(axes)
    variables = {}
    for name, values in columns.items():
        further = [f"{name}_{k}" for k in range(values.ndim - len(names))]
        variables[name] = ([*names, *further], values)
    found = xr.Dataset(variables, coords=dict(axes))
    codes = np.unique(columns["status"])
    found["status"].attrs["meaning"] = ", ".join(f"{int(code)} {status_name(int(code))}" for code in codes)
    found.attrs.update(problems=plan.problems.function, seed=plan.seed)
    return found


def export(table: xarray.Dataset, path: str | Path) -> Path:
    """Write a table by its suffix, whole."""
    target = Path(path)
    if target.suffix == ".nc":
        with replacing(target) as file:
            file.write(bytes(table.to_netcdf(engine="scipy", format="NETCDF3_64BIT")))
    elif target.suffix == ".csv":
        with replacing(target) as file:
            _write_csv(table, file)
    else:
        raise ValueError(f"path: got {os.fspath(path)!r}; wanted a name that ends in .csv or .nc")
    return target


def _write_csv(table: xarray.Dataset, file: BinaryIO) -> None:
    """One row a point: the axes, then the columns; values that are arrays get a column each."""
    import pandas  # which xarray needs

    axes = [str(name) for name in table["status"].dims]
    shape = table["status"].shape
    flat: dict[str, np.ndarray] = {}
    for name, values in table.data_vars.items():
        rows = values.values.reshape(int(np.prod(shape)), -1)
        width = rows.shape[1]
        flat.update({f"{name}_{k}" if width > 1 else str(name): rows[:, k] for k in range(width)})
    places = pandas.MultiIndex.from_product([table[name].values for name in axes], names=axes)
    pandas.DataFrame(flat, index=places).to_csv(file, na_rep="nan")
