"""`devui backup`: copies the journal, even while a server is writing it."""

from pathlib import Path

import click

from devui.cli.doctor.journal import check_database
from devui.cli.options import json_option, json_text
from devui.failures import BadRequestError, DevuiError
from devui.settings import DEFAULT_DATA_DIR
from devui.store.errors import FolderRefused, StoreError
from devui.store.sqlite.folder import DATABASE, back_up

_EXAMPLES = """\b
Examples:
  devui backup -o copy              copy all sessions of .devui
  devui --data-dir copy             open the copy
"""


@click.command("backup", epilog=_EXAMPLES, short_help="Copy all sessions to a new data folder.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=DEFAULT_DATA_DIR,
    show_default=True,
    help="Data folder to copy.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="Data folder to create; must not exist or be empty.",
)
@json_option
def command(data_dir: Path, output: Path, *, as_json: bool) -> None:
    """Copy the journal of a data folder into a new one.

    Safe while a server is writing: the copy is a consistent snapshot of everything committed.
    Exit status: 0 if the copy is complete, 1 if not, 2 if there is nothing to copy.
    """
    if not (data_dir / DATABASE).exists():
        raise BadRequestError(
            f"there is no journal in {str(data_dir)!r}; name the data folder with --data-dir"
        )
    try:
        back_up(data_dir, output)
    except FolderRefused as error:
        raise BadRequestError(str(error)) from error
    except (StoreError, OSError) as error:
        raise DevuiError(f"nothing was copied: {error}") from error
    findings = list(check_database(output))
    faults = [each.what for each in findings if each.level == "fault"]
    if faults:
        raise DevuiError(
            f"the copy in {str(output)!r} has faults: {faults[0]}. To list all of them, run"
            f" `devui doctor --data-dir {output}`"
        )
    check = next((each.what for each in findings if each.level == "good"), findings[0].what)
    answer = json_text({"folder": str(output), "check": check})
    click.echo(answer if as_json else f"{output}: {check}")
