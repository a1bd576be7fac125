"""Many problems over many processes and machines: studies that survive kills and resume where they were.

A study is a folder. `study` makes one, ``run`` computes what is missing with an executor, ``table`` reads
what there is. Needs xarray (extra ``data``) for tables and dask (extra ``sweep``) for more than one machine.
"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
