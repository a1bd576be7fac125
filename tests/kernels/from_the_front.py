"""Arrays that watch their indices."""

import numpy as np


class FromTheFront(np.ndarray):
    """An array whose indices must not be negative."""

    def __getitem__(self, key):
        assert min(key if isinstance(key, tuple) else (key,)) >= 0
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        assert min(key if isinstance(key, tuple) else (key,)) >= 0
        super().__setitem__(key, value)
