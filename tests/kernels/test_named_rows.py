"""The vectors of a thread's scratch: each name has a row of its own."""

import numpy as np
import pytest

from routh.compiling.rows import FieldRow, count_rows, rows
from routh.kernels.algorithm1.work import make_work
from routh.kernels.common.record import make_record
from routh.kernels.gradients.reverse_rates import reverse_workspace
from routh.kernels.plane import sample as plane
from routh.kernels.space import workspace as space

SCRATCHES = [
    plane.workspace(2),
    space.workspace(2),
    reverse_workspace(2, 3),
    make_record(4, 2, 3),
    make_work(2, 2, 4),
]
ENTRIES = {name: entry for name, entry in vars(space).items() if name.isupper() and isinstance(entry, int)}


def named_rows(work):
    return {name: row for name, row in vars(type(work)).items() if isinstance(row, FieldRow)}


@pytest.mark.parametrize("work", SCRATCHES, ids=lambda work: type(work).__name__)
def test_no_two_names_share_a_row_and_no_row_is_without_a_name(work):
    names = list(named_rows(work))
    for number, name in enumerate(names):
        getattr(work, name)[...] = number
    for number, name in enumerate(names):
        assert np.all(getattr(work, name) == number), name
    for field in {row.field for row in named_rows(work).values()}:
        assert len(getattr(work, field)) == count_rows(type(work), field)


def test_the_course_of_a_sample_has_an_entry_for_each_name():
    names = list(ENTRIES)
    course = names[names.index("ERROR") : names.index("ENTRIES")]
    assert [ENTRIES[name] for name in course] == list(range(space.ENTRIES))
    channels = names[names.index("RATE0") : names.index("WORKED") + 1]
    assert [ENTRIES[name] for name in channels] == list(range(space.CHANNELS))


def test_rows_of_a_base_class_come_first():
    class More(type(SCRATCHES[0])):
        __slots__ = ()
        (further,) = rows("marks", 1)

    assert vars(More)["further"].number == count_rows(type(SCRATCHES[0]), "marks")
