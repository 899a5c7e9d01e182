"""Runs the `devui` command as `python -m devui`."""

from devui.cli import main

if __name__ == "__main__":
    main()
