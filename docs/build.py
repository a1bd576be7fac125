"""Build the documentation into build/site: ``pip install -e '.[dev]'``, then ``python docs/build.py``."""

from site_build import main

if __name__ == "__main__":
    main()
