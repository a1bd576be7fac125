"""A plug-in for pytest: one test per finding about an engine.

    pytest -p routh.testkit.plugin --routh-engine my_engine:after

asks ``after`` of the module ``my_engine``, or an engine by its name in `routh.testkit.ENGINES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from routh.testkit.asking import card_of
from routh.testkit.card import Card, CardEntry, Grade


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--routh-engine``."""
    parser.addoption(
        "--routh-engine",
        action="append",
        default=[],
        metavar="MODULE:FUNCTION",
        help="ask this engine for the impacts of routh's scenes; repeatable",
    )


class FindingItem(pytest.Item):
    """One finding as a test."""

    finding: CardEntry

    def runtest(self) -> None:
        """Fail on a fault, skip what was not asked."""
        if self.finding.grade is Grade.FAULT:
            pytest.fail(self.finding.says, pytrace=False)
        if self.finding.grade is Grade.NOT_ASKED:
            pytest.skip(self.finding.says)

    def reportinfo(self) -> tuple[str, int | None, str]:
        """The place that reports name."""
        return "routh.testkit", None, self.name


class CardCollector(pytest.Collector):
    """All findings about one engine."""

    ask: partial[Card]

    def collect(self) -> Iterator[FindingItem]:
        """Ask the engine."""
        for one in self.ask().findings:
            item = FindingItem.from_parent(self, name=f"{one.scene}: {one.check}")
            item.finding = one
            yield item


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the findings to what was collected."""
    for name in session.config.getoption("--routh-engine"):
        collector = CardCollector.from_parent(session, name=name)
        collector.ask = partial(card_of, name)
        items += list(collector.collect())
