"""The `devui` command and its subcommands, each loaded when it is called."""

from devui.cli.commands import main

__all__ = ["main"]
