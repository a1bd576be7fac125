"""Outer bounds on the set of outcomes: from energy, and from functions that fall along every solution."""
