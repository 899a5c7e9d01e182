"""`python -m devui` is the `devui` command."""

from devui.cli import main

if __name__ == "__main__":
    main()
