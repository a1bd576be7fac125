from routh.viz.plots import plot as plot
