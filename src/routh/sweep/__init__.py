"""Many problems over many processes and machines: studies that survive kills and resume where they were.

A study is a folder. `study` makes one, ``run`` computes what is missing with an executor, ``table`` reads
what there is. Needs xarray (extra ``data``) for tables and dask (extra ``sweep``) for more than one machine.
"""

from routh.auditing.scans import Grid, axis_from_text, grid, grid_from_text
from routh.sweep.measures import Measure, ambiguity, audits, exact_widths, extremes, mode_shares, own
from routh.sweep.recipe import Recipe, recipe
from routh.sweep.studies import RunReport, Study, study
from routh.sweep.studies import open_study as open

__all__ = [
    "Grid",
    "Measure",
    "Recipe",
    "RunReport",
    "Study",
    "ambiguity",
    "audits",
    "axis_from_text",
    "exact_widths",
    "extremes",
    "grid",
    "grid_from_text",
    "mode_shares",
    "open",
    "own",
    "recipe",
    "study",
]
