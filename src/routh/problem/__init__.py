"""Impacts as data, and what Coulomb friction does in them.

`routh.problem.impact`       one impact: `ImpactProblem`
`routh.problem.batch`        many impacts: `ImpactBatch`
`routh.problem.rows`         problems prepared for kernels, row by row
`routh.problem.friction`     what a contact does, the true cone and its polyhedral approximation
`routh.problem.pointedness`  can contacts jam: do their friction cones contain opposite impulses?
`routh.problem.termination`  does every impact of a set of contacts end?
"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
