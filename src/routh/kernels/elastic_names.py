"""Rows of the workspace arrays of `routh.kernels.elastic`, and its statuses."""

# rows of ``flat``
NOW, THEN, PUSH, TOTAL, KEPT_THEN, KEPT_PUSH = 0, 1, 2, 3, 4, 5
# rows of ``work``
RATE, BOUND, FLOOR, BUDGET, STORED, RETURNED = 0, 1, 2, 3, 4, 5
GAIN, GIVEN, EARNED, SPENT, BELOW, ABOVE, VALUE, SLOPE, KIND = 6, 7, 8, 9, 10, 11, 12, 13, 14
# what a contact waits for (row KIND)
NOTHING, END_OF_COMPRESSION, END_OF_BUDGET = 0.0, 1.0, 2.0
# statuses, as in routh.Status
SOLVED, NO_IMPACT, MAX_STEPS, NUMERICAL = 0, 1, 2, 6
