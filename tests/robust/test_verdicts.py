"""From the parts of an answer on tipping to the one word that the exit code stands for."""

import numpy as np
import pytest

from routh.models.regime import STIFF, TILTED
from routh.robust.verdicts import Verdict, short, verdict_of

SAMPLES = 1024


@pytest.mark.parametrize(
    ("ratio", "evidence", "regime", "solved", "verdict"),
    [
        (0.3, "sampled", STIFF, 1.0, Verdict.GO),
        (1.01, "sampled", STIFF, 1.0, Verdict.NO_GO),
        (1.01, "sampled", TILTED, 0.2, Verdict.NO_GO),  # one outcome is enough
        (np.nan, "energy", STIFF, 1.0, Verdict.PARTIAL),
        (0.99, "energy", TILTED, 0.2, Verdict.GO),  # whatever comes after, and whatever was drawn
        (0.99, "bound", STIFF, 0.2, Verdict.GO),  # of this impact
        (0.3, "bound", TILTED, 1.0, Verdict.TILTED),
        (0.3, "sampled", TILTED, 1.0, Verdict.TILTED),
        (0.3, "sampled", STIFF, 0.9, Verdict.PARTIAL),
        (0.93, "sampled", STIFF, 1.0, Verdict.GO),
        (0.96, "sampled", STIFF, 1.0, Verdict.UNDECIDED),
    ],
)
def test_one_word_from_its_parts(ratio, evidence, regime, solved, verdict):
    assert verdict_of(ratio, evidence, regime, solved, SAMPLES) is verdict


def test_the_worst_of_several_answers():
    worse = [Verdict.GO, Verdict.UNDECIDED, Verdict.TILTED, Verdict.PARTIAL, Verdict.NO_GO]
    assert [verdict.severity for verdict in worse] == sorted({verdict.severity for verdict in worse})


@pytest.mark.parametrize(("samples", "measured"), [(256, 0.086), (1024, 0.051), (4096, 0.023)])
def test_the_doubt_covers_what_was_measured_and_not_much_more(samples, measured):
    assert measured < short(samples) < 1.5 * measured
