"""`python -m devui` is the `devui` command."""

from devui.cli import main

main()
