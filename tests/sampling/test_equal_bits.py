"""Equal seeds give equal samples, to the bit, whatever n, threads or batch."""

import pytest

from attacking import bits


@pytest.mark.parametrize(("family", "count"), [("mu = 0", 400), ("Poisson", 400), ("feet", 100)])
def test_every_promise_of_sample_holds(family, count):
    """Rates were kept under names that left out what they hang on, so samples hung on those before them."""
    found = bits.differing(bits.problems_of(family, 1, range(count)), family, 1)
    assert [(k, words) for k, words in enumerate(found) if words] == []
