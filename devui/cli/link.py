"""`devui link`: prints a new sign-in link for the running server."""

import click

from devui.cli.server import ServerOptions, server_options

_EXAMPLES = """\b
Examples:
  devui link                  print a link that signs one browser in
  devui link --data-dir DIR   for the server that uses the data folder DIR
"""


@click.command("link", epilog=_EXAMPLES, short_help="Print a new sign-in link.")
@server_options
def command(server: ServerOptions) -> None:
    """Print a link that signs one browser in. It works once, within ten minutes."""
    terminal = server.terminal()
    terminal.say(terminal.client.new_sign_in_link(), lambda answer: [answer["link"]])
