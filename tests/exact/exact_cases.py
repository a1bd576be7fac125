"""The rocking block in round numbers, with friction and sliding to choose."""

from fractions import Fraction as F

from routh.exact.rational import RationalProblem


def block(mu=1, slip=0, speed=F(4429, 10000)):
    return RationalProblem(
        [[1, 0, 0], [0, 1, 0], [0, 0, F(5, 12)]],
        [[0, 1, F(-1, 2)], [0, 1, F(1, 2)]],
        [[[1, 0, 1]], [[1, 0, 1]]],
        [mu, mu],
        [slip, -speed, 0],
        "AB",
    )
