"""``python -m routh`` is the command ``routh``."""

from routh.cli import main

if __name__ == "__main__":
    main()
