"""The exit codes of all commands, and what each means: docs/guide/command_line.md has them as a table."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command ends with."""

    DONE = 0
    WITHOUT_RESULT = 1
    BAD_INPUT = 2
    NOTHING_APPROACHES = 3
    NO_GO = 4
    TOO_FEW_SOLVED = 5
    INTERRUPTED = 130


#: Code -> what it means in short, and what it means of which commands.
MEANINGS: dict[Exit, tuple[str, dict[str, str]]] = {
    Exit.DONE: ("done", {"all": "done"}),
    Exit.WITHOUT_RESULT: (
        "ran but without the result asked for",
        {
            "run, impact": "no sample is solved",
            "run --exact": "its budget ran out",
            "scan, sweep": "no sample is solved at any point",
            "audit": "no impact was met, or no law has an answer",
            "animate, simulate": "a future ended early: the last line of the events says why",
            "simulate --verify": "a future is no solution of HP23 (53)",
            "reproduce": "an exhibit failed",
        },
    ),
    Exit.BAD_INPUT: (
        "bad input",
        {"all": "bad input: one line on standard error says what was wrong and what was wanted"},
    ),
    Exit.NOTHING_APPROACHES: (
        "nothing approaches",
        {
            "run, impact": "nothing approaches: there is no impact",
            "scan, sweep": "nothing approaches at any point",
        },
    ),
    Exit.NO_GO: ("no-go: it can tip", {"tip": "no-go: an outcome turns the robot over"}),
    Exit.TOO_FEW_SOLVED: (
        "fewer than 99 % of the samples are solved",
        {
            "run, impact, animate ROBOT": "fewer than 99 % of the samples are solved: the first line says "
            "how many, why not and what to try, and the answer is made of the solved ones alone",
            "scan, sweep": "the same of all samples of all points together",
            "tip": "no outcome that was found tips, but the same of its samples",
        },
    ),
    Exit.INTERRUPTED: (
        "interrupted",
        {
            "all": "interrupted: Ctrl-C ends every command within a second. No file is left half written, "
            "and the last line on standard error says what was kept",
            "sweep, reproduce, precompile": "the same command goes on from there",
        },
    ),
}


def in_short() -> str:
    """One sentence for the end of every help."""
    return f"Exit codes: {', '.join(f'{code:d} {short}' for code, (short, _) in MEANINGS.items())}."


def table() -> list[str]:
    """The table of the documentation, line by line."""
    lines = ["| code | commands | meaning |", "|---|---|---|"]
    for code, (_, meanings) in MEANINGS.items():
        for commands, meaning in meanings.items():
            told = commands if commands == "all" else ", ".join(f"`{one}`" for one in commands.split(", "))
            lines.append(f"| {code:d} | {told} | {meaning} |")
    return lines
