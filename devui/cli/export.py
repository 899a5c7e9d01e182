"""`devui export`: writes a session to a file, or shows what the file would leave out."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from devui.cli.follow import as_job
from devui.cli.lookup import app_option, session_of
from devui.cli.output import plain, times
from devui.cli.server import ServerOptions, agents_option, server_options, serving
from devui.failures import DevuiError

_EXAMPLES = """\b
Examples:
  devui export 12 -o trip.json                    write session 12, to import elsewhere
  devui export 12 -o trip.html --html             write a page for any browser
  devui export 12 -o trip.json --format adk-web   write a file for `adk web` to import
  devui export 12 -o trip.evalset.json --format eval-set
                                                  write a case for `adk eval`
  devui export 12 -o trip.json --redact user:mail leave out the values of a state key
  devui export 12 --preview                       show what would be left out; write nothing

Secrets are left out unless --keep-secrets is given: values from `.env`, secret variables, and
anything shaped like a key. For the exit status see `devui dbg --help`.
"""


@click.command("export", epilog=_EXAMPLES, short_help="Write a session to a file.")
@click.argument("session", required=False)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write."
)
@click.option("--html", "as_html", is_flag=True, help="Write an HTML page instead of a bundle.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["adk", "adk-web", "eval-set"]),
    help="Write google-adk's Session, what `adk web` imports, or an eval set for `adk eval`.",
)
@click.option(
    "--redact",
    "keys",
    metavar="[KEY]",
    multiple=True,
    is_flag=False,
    flag_value="",
    help="Also leave out the values of this state key. Repeatable.",
)
@click.option("--keep-secrets", is_flag=True, help="Leave secrets in the file.")
@click.option("--preview", is_flag=True, help="Show what would be left out; write nothing.")
@app_option
@agents_option
@server_options
def command(
    server: ServerOptions,
    session: str | None,
    *,
    output: Path | None,
    as_html: bool,
    form: str | None,
    keys: tuple[str, ...],
    keep_secrets: bool,
    preview: bool,
    app: str | None,
    agents: Path,
) -> None:
    """Write SESSION (by default the most recently active) to a file that `devui import` reads."""
    if keep_secrets and "" in keys:
        raise click.UsageError("--redact and --keep-secrets can't be combined")
    if as_html and form:
        raise click.UsageError("--html and --format can't be combined")
    if output is None and not preview:
        raise click.UsageError("give the file to write with -o")
    with serving(server, agents) as terminal:
        row = session_of(terminal.client, session, app=app)
        options: dict[str, Any] = {"keys": [key for key in keys if key] or None}
        options |= {"secrets": "keep" if keep_secrets else None}
        answer: dict[str, Any] = {**terminal.client.preview_export(row["key"], **options)}
        if output is not None and not preview:
            options |= {"format": "html" if as_html else form}
            with as_job(terminal.client, "exporting") as client:
                _write(output, client.export_session(row["key"], **options))
            answer |= {"file": str(output), "bytes": output.stat().st_size}
        terminal.say(answer, lambda all_of_it: _lines(all_of_it, keep_secrets=keep_secrets))


def _write(output: Path, pieces: Iterable[bytes]) -> None:
    """Write the file atomically, by way of a temporary file next to it."""
    part = output.with_name(f"{output.name}.part")
    try:
        with part.open("wb") as file:
            part.chmod(0o600)
            for piece in pieces:
                file.write(piece)
        part.replace(output)
    except OSError as error:
        raise DevuiError(f"cannot write {str(output)!r}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _lines(answer: dict[str, Any], *, keep_secrets: bool) -> list[str]:
    lines = [f"wrote {answer['file']}, {answer['bytes']:,} bytes"] if "file" in answer else []
    word = "left out" if lines else "would be left out"
    if not answer["findings"]:
        why = "secrets are kept" if keep_secrets else "no secrets found"
        lines.append(f"nothing {word}: {why}")
    for each in answer["findings"]:
        hint = f" {plain(each['hint'])}" if each["hint"] else ""
        places = plain(", ".join(each["places"]))
        lines.append(f"{word}: {plain(each['kind'])}{hint}, {times(each['count'])}: {places}")
    return lines
