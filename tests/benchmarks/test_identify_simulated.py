"""Trials of the benchmark of identification."""


def test_simulated_trials_recover_the_truth():
    from identify import TRUE, one_trial

    found = one_trial((0, 24, 8))
    for name, one in found.estimates.items():
        assert abs(one.value - TRUE[name]) < 0.5 * TRUE[name]
        assert one.interval[0] < one.value < one.interval[1]
