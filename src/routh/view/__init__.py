"""The viewer in a browser: drag a state and see every outcome of its impact (viser, extra ``view``)."""

from routh.view.session import Viewer, show

__all__ = ["Viewer", "show"]
