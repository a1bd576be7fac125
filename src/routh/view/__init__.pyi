# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.view.session import Viewer as Viewer
from routh.view.session import show as show
