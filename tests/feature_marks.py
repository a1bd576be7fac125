"""Marks for tests of the core that a feature has a part in: they are skipped where its folder is gone."""

import pytest

from routh.base import features


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test, or a case of it, where one of these features is not installed."""
    missing = [name for name in names if name not in features.installed()]
    return pytest.mark.skipif(bool(missing), reason=f"without the feature {', '.join(missing)}")
