"""The `devui` command and what stands behind it; each subcommand is loaded when it is called."""

from devui.cli.commands import main

__all__ = ["main"]
