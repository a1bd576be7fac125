"""Loading the polyhedra library leaves floating-point arithmetic as it was."""

import sys
import types

import pytest

from routh.exact import loading


def test_arithmetic_rounds_to_nearest_after_loading():
    pytest.importorskip("ppl")
    loading.load_ppl()
    assert loading._rounds_to_nearest()
    assert float("0.3") == 0.3


def test_a_build_that_changes_the_rounding_is_set_right(monkeypatch):
    restored = []
    build = types.SimpleNamespace(restore_pre_PPL_rounding=lambda: restored.append(True))
    monkeypatch.setitem(sys.modules, "ppl", build)
    monkeypatch.setattr(loading, "_rounds_to_nearest", lambda: False)
    assert loading.load_ppl() is build
    assert restored == [True]
