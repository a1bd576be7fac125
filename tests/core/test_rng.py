import numpy as np

from routh.rng import philox, uniforms


def words(text):
    return np.array([int(word, 16) for word in text.split()], dtype=np.uint64)


def test_philox_known_answers():
    """The published test vectors of Philox4x32-10 (Random123)."""
    assert np.array_equal(philox(words("0 0 0 0"), (0, 0)), words("6627e8d5 e169c58d bc57ac4c 9b00dbd8"))
    ones = words("ffffffff ffffffff ffffffff ffffffff")
    assert np.array_equal(philox(ones, (2**32 - 1, 2**32 - 1)), words("408f276d 41c83b0e a20bc7c6 6d5451fd"))
    digits = words("243f6a88 85a308d3 13198a2e 03707344")
    answer = words("d16cfe09 94fdcceb 5001e420 24126ea1")
    assert np.array_equal(philox(digits, (0xA4093822, 0x299F31D0)), answer)


def test_numbers_depend_on_the_sample_alone():
    batch = uniforms(7, np.arange(100), 3, 5)
    alone = np.array([uniforms(7, np.array([i]), 3, 5)[0] for i in range(100)])
    assert np.array_equal(batch, alone)
    assert np.array_equal(batch[:, :2], uniforms(7, np.arange(100), 3, 2))


def test_numbers_are_uniform_and_distinct():
    numbers = np.concatenate(
        [uniforms(seed, np.arange(20000), step, 3) for seed in (0, 1) for step in (0, 1)]
    )
    assert numbers.min() > 0.0
    assert numbers.max() < 1.0
    assert len(np.unique(numbers)) == numbers.size
    assert abs(numbers.mean() - 0.5) < 4.0 / np.sqrt(12 * numbers.size)
    counts = np.histogram(numbers, 100, (0, 1))[0]
    expected = numbers.size / 100
    assert np.sum((counts - expected) ** 2 / expected) < 150.0  # chi-squared, 99 degrees of freedom
    assert np.abs(np.corrcoef(numbers.T) - np.eye(3)).max() < 0.02
