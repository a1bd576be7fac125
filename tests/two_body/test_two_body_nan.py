"""NaN and infinity in an impact of two bodies are refused with the field's name."""

import numpy as np
import pytest

from routh import two_body


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("field", ["W", "v", "mu", "e"])
def test_what_is_not_finite_is_refused(field, bad):
    given = {"W": np.diag([1.0, 1.0, 2.0]), "v": np.array([0.3, 0.1, -1.0]), "mu": 0.5, "e": 0.5}
    if field in ("W", "v"):
        given[field].flat[0] = bad
    else:
        given[field] = bad
    with pytest.raises(ValueError, match="finite"):
        two_body.impact(**given)
