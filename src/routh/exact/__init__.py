"""Exact post-impact sets by polyhedra with rational coefficients (needs the extra ``exact``)."""
