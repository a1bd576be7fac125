"""Impact laws: one outcome of an impact problem each, one protocol."""
