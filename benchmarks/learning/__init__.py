"""Parts of `learn_experiment.py`."""
