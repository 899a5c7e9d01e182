"""`devui` itself: opens the UI, or runs one of its commands.

Without the name of a command, the command is `web`: `devui`, `devui agents` and
`devui --port 9000` open the UI. Write a folder with the name of a command as `./resume`.
"""

import gc
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import click

from devui import __version__

INSTEAD: Final[Mapping[str, str]] = {
    "conformance": "keep sessions as tests with `devui make-test` and run them with `devui test`;"
    " `adk conformance` works on your agents as before",
    "deploy": "deploy with `adk deploy`; devui changes nothing in your agents",
    "eval": "keep sessions as tests with `devui make-test` and run them with `devui test`;"
    " `devui export SESSION -o NAME.evalset.json --format eval-set` writes a case for `adk eval`",
    "eval_set": "keep sessions as tests with `devui make-test`; `adk eval_set` works as before",
    "migrate": "import databases of google-adk with `devui import`, which reads both schemas;"
    " devui brings its own journal up to date by itself",
    "optimize": "retry a model call with a different prompt on the page, or use `adk optimize`",
    "telemetry": "devui sends no usage data, so there is nothing to switch off",
}
"""What to do instead of google-adk's commands, by name; sentences without a full stop."""


WEB: Final = "web"
"""The default command, whose name may be omitted."""

API_SERVER: Final = "api_server"
"""google-adk's name for a server whose pages nobody opens; it runs `web --no-browser`."""

_COMMANDS: Final[Mapping[str, str]] = {
    WEB: "devui.cli.web",
    "run": "devui.cli.run",
    "create": "devui.cli.create",
    "dbg": "devui.cli.dbg.command",
    "resume": "devui.cli.resume",
    "export": "devui.cli.export",
    "import": "devui.cli.import_",
    "compare": "devui.cli.compare",
    "make-test": "devui.cli.make_test",
    "test": "devui.cli.test",
    "replay": "devui.cli.replay",
    "backup": "devui.cli.backup",
    "prune": "devui.cli.prune",
    "link": "devui.cli.link",
    "doctor": "devui.cli.doctor.command",
    "mcp": "devui.cli.mcp",
    "skill": "devui.cli.skill",
}
"""The module of each command's `command`, loaded when it is needed."""
_OWN: Final = frozenset({"--help", "--version"})

_EXAMPLES = """\b
Examples:
  devui agents                 open the UI on every app in ./agents
  devui agents/travel          open it on one app
  devui create first           create a small agent that runs without a key
  devui run first "Hello"      send it a message and print the answer
  devui resume 12              resume the interrupted invocation of session 12
  devui compare 12 15          show how two sessions or runs differ
  devui replay 12 --check      run session 12 again with its recorded answers
  devui dbg attach             follow a run in the terminal
  devui export 12 -o it.json   write a session to a file, without secrets
  devui import it.json         import it, here or elsewhere
  devui make-test 12           keep session 12 as a test
  devui test                   run the tests made from sessions
  devui backup -o copy         copy all sessions, even while a server is running
  devui prune --days 90        list unused sessions; add --yes to delete them
  devui link                   print a new sign-in link
  devui doctor                 check the installation, the journal and the apps
  devui mcp                    give a coding agent the debugger
  devui skill --install        teach it to debug from its shell

Options and commands also work in google-adk's spelling: --data_dir, api_server.
"""


def kebab(name: str) -> str:
    """Return devui's spelling of an option or command: `--data-dir` for ADK's `--data_dir`."""
    return name.replace("_", "-")


def _look_for_mistakes(word: str) -> None:
    """Raise UsageError for a command that only `adk` has, or that is misspelled."""
    if advice := INSTEAD.get(word.replace("-", "_")):
        raise click.UsageError(f"devui has no command {word!r}: {advice}.")
    if word.startswith("-") or Path(word).exists():
        return
    difflib = import_module("difflib")  # loaded only for mistakes
    if near := difflib.get_close_matches(kebab(word), [*_COMMANDS, kebab(API_SERVER)]):
        suggestion = " or ".join(map(repr, near))
        raise click.UsageError(
            f"no command or folder is called {kebab(word)!r}. Did you mean {suggestion}?"
        )


class CommandGroup(click.Group):
    """A group that loads its commands when needed and has a default command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command if none is given, and replace google-adk's `api_server`."""
        first = args[0] if args else ""
        if first.replace("-", "_") == API_SERVER:
            args = [WEB, "--no-browser", *args[1:]]
        elif kebab(first) not in _COMMANDS.keys() | _OWN:
            _look_for_mistakes(first)
            args = [WEB, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; return None if there is none with this name."""
        if cmd_name not in _COMMANDS:
            return None
        was_enabled = gc.isenabled()
        gc.disable()  # imports leave no garbage, but would trigger 20 collections
        try:
            command: click.Command = import_module(_COMMANDS[cmd_name]).command
        finally:
            gc.freeze()  # modules stay, so the first collection needn't scan them either
            if was_enabled:
                gc.enable()
        return command

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both forms: with and without a command."""
        formatter.write_usage(ctx.command_path, "[OPTIONS] [AGENTS_DIR]")
        formatter.write_usage(ctx.command_path, "COMMAND …", prefix="   or: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the default command, then the commands."""
        web = self.get_command(ctx, WEB)
        if web is not None:
            web.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=CommandGroup, epilog=_EXAMPLES, context_settings={"token_normalize_func": kebab})
@click.version_option(__version__, prog_name="devui")
def main() -> None:
    """Open the dev UI on the agents in AGENTS_DIR (default: the current folder), or run a command.

    An app is a folder with an agent.py that defines `root_agent` or `app`. Sessions are stored in
    the data folder. Set DEVUI_TOKEN to choose the bearer token for scripts.
    """
