"""Every published figure and table, drawn and compared: one module per paper, one report."""
