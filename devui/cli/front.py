"""`devui` itself: opens the UI, or runs one of its commands.

Whatever does not begin with the name of a command belongs to `web`: `devui`, `devui agents` and
`devui --port 9000` open the UI. A folder that is called like a command is `./resume`.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

import click

from devui import __version__

WEB: Final = "web"
"""The command that may be left out."""

API_SERVER: Final = "api_server"
"""What google-adk calls a server whose pages nobody opens (resume seed): `web --no-browser`."""

_COMMANDS: Final[Mapping[str, str]] = {
    WEB: "devui.cli.web",
    "dbg": "devui.cli.dbg",
    "resume": "devui.cli.resume",
    "export": "devui.cli.export",
    "import": "devui.cli.take",
    "compare": "devui.cli.compare",
    "make-test": "devui.cli.make_test",
    "test": "devui.cli.kept_tests",
    "replay": "devui.cli.replay",
    "backup": "devui.cli.backup",
    "prune": "devui.cli.prune",
    "doctor": "devui.cli.doctor",
}
"""Where each command is: the `command` of a module that is loaded when it is needed."""
_OWN: Final = frozenset({"--help", "--version"})

_EXAMPLES = """\b
Examples:
  devui agents               open the UI on every app in ./agents
  devui agents/travel        just this one
  devui --port 9000          another port
  devui --no-browser         print the link only
  devui resume 12            go on with the invocation of session 12 that was cut off
  devui compare 12 15        how two sessions, or runs, differ
  devui replay 12 --check    execute session 12 again with its recorded answers
  devui dbg attach           follow a run in the terminal
  devui export 12 -o it.json write a session into a file, without secrets
  devui import it.json       read it back, here or elsewhere
  devui make-test 12         keep session 12 as a test
  devui test                 play such tests
  devui backup -o kept       copy all sessions, also while a server writes them
  devui prune --days 90      which sessions nobody has used for so long; --yes deletes them
  devui doctor               look whether everything is in order
"""


class Front(click.Group):
    """A group with a command that may be left out, and commands that are loaded when needed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the command that was left out, or is google-adk's, before the rest."""
        if args[:1] == [API_SERVER]:
            args = [WEB, "--no-browser", *args[1:]]
        elif not args or args[0] not in _COMMANDS.keys() | _OWN:
            args = [WEB, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None for a name that is none's."""
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(_COMMANDS[cmd_name])
        command: click.Command = module.command
        return command

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Both ways to call it."""
        formatter.write_usage(ctx.command_path, "[OPTIONS] [AGENTS_DIR]")
        formatter.write_usage(ctx.command_path, "COMMAND …", prefix="   or: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the command that may be left out, then the commands."""
        web = self.get_command(ctx, WEB)
        if web is not None:
            web.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=Front, epilog=_EXAMPLES)
@click.version_option(__version__, prog_name="devui")
def main() -> None:
    """Open the dev UI on the agents in AGENTS_DIR (here if not given), or run a command.

    Each app is a folder with an agent.py that defines `root_agent` or `app`. Sessions and all their
    events are kept in the data folder. For scripts, DEVUI_TOKEN sets the bearer token.
    """
