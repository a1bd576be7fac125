"""Time per call of every system's model: python benchmarks/models.py [repeats]."""

import timeit

from measure import Table, command_line
from routh import systems

CALLS = 200


def best(function, repeats):
    """Best time of one call, in microseconds."""
    return min(timeit.repeat(function, number=CALLS, repeat=repeats)) / CALLS * 1e6


def main():
    parser = command_line(__doc__)
    parser.add_argument("repeats", nargs="?", type=int, default=7)
    repeats = parser.parse_args().repeats
    columns = ("mass", "bias", "Jacobians", "their rates", "all four", "gaps")
    table = Table({"system, us": "<20", "nv": "d", "contacts": "d", **dict.fromkeys(columns, ".1f")})
    for name in systems.names():
        system = systems.get(name)
        if system.model is None or system.state is None:  # given by its matrices, or by constraints
            continue
        model, q, v = system.model, system.state.q, system.state.v
        times = [
            best(call, repeats)
            for call in (
                lambda m=model, q=q: m.mass(q),
                lambda m=model, q=q, v=v: m.bias(q, v),
                lambda m=model, q=q: m.jacobians(q),
                lambda m=model, q=q, v=v: m.jacobian_bias(q, v),
            )
        ]
        gaps = best(lambda m=model, q=q: m.gaps(q), repeats)
        table.row(name, model.nv, len(model.contacts), *times, sum(times), gaps)


if __name__ == "__main__":
    main()
