"""Packages that are missing, and packages that lack a library of the system, are named."""

import pytest

from routh.base import status
from routh.base.status import MissingExtraError, MissingLibraryError


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (
            ModuleNotFoundError("No module named 'a.some'"),
            MissingExtraError,
            r"pip install .*\[pinocchio\]'?",
        ),
        (
            ImportError("libgomp.so.1: cannot open shared object file: No such file or directory"),
            MissingLibraryError,
            "does not load: libgomp.so.1: .*; on Debian and Ubuntu: apt install libgomp1$",
        ),
        (
            ImportError("libX.so.2: cannot open shared object file"),
            MissingLibraryError,
            r"load: libX\.so\.2: .* file$",
        ),
    ],
)
def test_what_keeps_an_optional_package_from_loading_is_told(monkeypatch, error, kind, told):
    def fail(name):
        raise error

    monkeypatch.setattr(status, "import_module", fail)
    with pytest.raises(MissingExtraError, match=told) as raised:
        status.optional("pinocchio", "pinocchio")
    assert type(raised.value) is kind
