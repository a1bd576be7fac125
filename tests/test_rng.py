import numpy as np

from routh.base.rng import event_key, event_number, philox, uniforms


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


def test_row_zero_is_the_single_problem_and_rows_differ():
    samples = np.arange(50)
    assert np.array_equal(uniforms(7, samples, 3, 4), uniforms(7, samples, 3, 4, row=0))
    rows = [uniforms(7, samples, 3, 4, row=row) for row in range(5)]
    assert len(np.unique(rows)) == 5 * 50 * 4


def test_keys_of_events_are_the_same_in_compiled_code():
    from routh.kernels.common import random as compiled

    for seed, row, sample, event in [(0, 0, 0, 0), (2**64 - 1, 2**32 - 1, 12345, 7), (5, 3, 2**40 + 1, 2)]:
        key = event_key(seed, row, sample, event)
        found = compiled.event_keys(np.uint64(seed), row, sample, event // 2)[event % 2]
        assert int(found) == key
        for index in (0, 1, 40):
            assert compiled.event_number(np.uint64(key), index) == event_number(key, index)


def test_numbers_of_events_are_uniform_and_distinct():
    numbers = [
        event_number(event_key(3, row, sample, event), index)
        for row in range(2)
        for sample in range(20)
        for event in range(5)
        for index in range(20)
    ]
    assert len(set(numbers)) == len(numbers)
    assert abs(np.mean(numbers) - 0.5) < 4.0 / np.sqrt(12 * len(numbers))
    counts = np.histogram(numbers, 20, (0, 1))[0]
    assert np.sum((counts - 200.0) ** 2 / 200.0) < 50.0  # chi-squared, 19 degrees of freedom
