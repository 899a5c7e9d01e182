"""`devui mcp`: gives a coding agent the debugger's tools, over standard input and output."""

from functools import partial
from importlib import import_module
from typing import Final

import click

from devui.cli.server import ServerOptions, server_options
from devui.failures import DevuiError

_PACKAGE: Final = "mcp"

_EXAMPLES = """\b
Examples:
  claude mcp add devui -- devui mcp     give the tools to Claude Code, in the agents' folder
  devui mcp --data-dir ../shop/.devui   use the server on another data folder
  devui mcp --url http://box:8000       use a server elsewhere, with DEVUI_TOKEN

The server can start later: each call looks for it.
"""


@click.command("mcp", epilog=_EXAMPLES, short_help="Give a coding agent the debugger (MCP).")
@partial(server_options, json_option=click.option("--json", "as_json", is_flag=True, hidden=True))
def command(server: ServerOptions) -> None:
    """Speak the Model Context Protocol over standard input and output.

    A coding agent gets tools that list sessions, show what happened, step, edit, fork, replay and
    test. What it does appears on the page with its name.
    """
    try:
        protocol = import_module("devui.mcp.protocol")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {_PACKAGE, "mcp_types"}:
            raise
        raise DevuiError("devui mcp needs the package mcp: pip install 'devui[mcp]'") from error
    protocol.serve_stdio(lambda: server.terminal().client, has_actor=server.actor is not None)
