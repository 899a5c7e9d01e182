"""`devui export`: a session as one file, and what the file would leave out."""

from pathlib import Path
from typing import Any

import click

from devui.cli.client import Client
from devui.cli.failures import Failed
from devui.cli.finding import Reach, reaching
from devui.cli.headless import agents_option, served
from devui.cli.lines import plain, times
from devui.cli.naming import app_option, session_of

_EXAMPLES = """\b
Examples:
  devui export 12 -o trip.json                  all of session 12, to be imported elsewhere
  devui export 12 -o trip.html --html           to be read in any browser, without devui
  devui export 12 -o trip.json --redact user:mail   without the values of a state key
  devui export 12 --preview                     what would be left out, and nothing written

Values of `.env`, of secret variables, and what has the shape of a key are left out always;
--keep-secrets writes them, too. Ends as `devui dbg --help` tells.
"""


@click.command("export", epilog=_EXAMPLES, short_help="Write a session into a file.")
@click.argument("session", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The file.")
@click.option("--html", "as_html", is_flag=True, help="A page to be read, instead of a bundle.")
@click.option(
    "--redact",
    "keys",
    metavar="[KEY]",
    multiple=True,
    is_flag=False,
    flag_value="",
    help="State key whose values are left out, too; several times for several.",
)
@click.option("--keep-secrets", is_flag=True, help="Leave secrets in.")
@click.option("--preview", is_flag=True, help="Tell what would be left out; write nothing.")
@app_option
@agents_option
@reaching
def command(
    reach: Reach,
    session: str | None,
    *,
    output: Path | None,
    as_html: bool,
    keys: tuple[str, ...],
    keep_secrets: bool,
    preview: bool,
    app: str | None,
    agents: Path,
) -> None:
    """Write SESSION, the newest if not said, into a file that `devui import` reads."""
    if keep_secrets and "" in keys:
        raise click.UsageError("--redact and --keep-secrets contradict each other")
    if output is None and not preview:
        raise click.UsageError("say with -o which file is to be written")
    with served(reach, agents) as terminal:
        found = session_of(terminal.client, session, app=app)
        path = ("api", "sessions", found["key"], "export")
        asked: dict[str, Any] = {"keys": [key for key in keys if key] or None}
        asked |= {"secrets": "keep" if keep_secrets else None}
        told = terminal.client.get(*path, "preview", **asked)
        if output is not None and not preview:
            asked |= {"format": "html" if as_html else None}
            _write(terminal.client, output, path, asked)
            told = {**told, "file": str(output), "bytes": output.stat().st_size}
        terminal.say(told, lambda all_of_it: _lines(all_of_it, keep_secrets=keep_secrets))


def _write(client: Client, output: Path, path: tuple[object, ...], asked: dict[str, Any]) -> None:
    """Write beside the file first, so that it is there whole or as it was."""
    part = output.with_name(f"{output.name}.part")
    try:
        with part.open("wb") as file:
            part.chmod(0o600)
            for piece in client.download(*path, **asked):
                file.write(piece)
        part.replace(output)
    except OSError as error:
        raise Failed(f"{str(output)!r} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _lines(told: dict[str, Any], *, keep_secrets: bool) -> list[str]:
    lines = [f"wrote {told['file']}, {told['bytes']:,} bytes"] if "file" in told else []
    word = "left out" if lines else "would be left out"
    if not told["findings"]:
        why = "secrets are kept" if keep_secrets else "no secret was found"
        lines.append(f"nothing {word}: {why}")
    for each in told["findings"]:
        hint = f" {plain(each['hint'])}" if each["hint"] else ""
        places = plain(", ".join(each["places"]))
        lines.append(f"{word}: {plain(each['kind'])}{hint}, {times(each['count'])}: {places}")
    return lines
