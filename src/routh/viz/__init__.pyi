from routh.viz.plotting import plot as plot
