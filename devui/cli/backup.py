"""`devui backup`: copies the journal while a server may go on writing it."""

from pathlib import Path

import click

from devui.cli.checks.journal import look_at_journal
from devui.cli.failures import Failed, Misused
from devui.settings import DEFAULT_DATA_DIR
from devui.store.backup import back_up
from devui.store.errors import FolderRefused, StoreError
from devui.store.folder import DATABASE

_EXAMPLES = """\b
Examples:
  devui backup -o kept              all sessions of .devui as they are now
  devui --data-dir kept             look at them
"""


@click.command("backup", epilog=_EXAMPLES, short_help="Copy all sessions as they are now.")
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
    help="The data folder to make; empty, or not there yet.",
)
def command(data_dir: Path, output: Path) -> None:
    """Copy the journal of a data folder into a new one.

    A server may go on meanwhile: the copy has everything that was committed at one moment. Ends
    with 0 when it is whole, 1 when it is not or could not be made, 2 if there is nothing to copy.
    """
    if not (data_dir / DATABASE).exists():
        raise Misused(f"there is no journal in {str(data_dir)!r}")
    try:
        back_up(data_dir, output)
    except FolderRefused as error:
        raise Misused(str(error)) from error
    except (StoreError, OSError) as error:
        raise Failed(f"nothing was copied: {error}") from error
    found = list(look_at_journal(output))
    faults = [each.what for each in found if each.level == "fault"]
    if faults:
        raise Failed(f"the copy in {str(output)!r} has faults, look with devui doctor: {faults[0]}")
    told = next((each.what for each in found if each.level == "good"), found[0].what)
    click.echo(f"{output}: {told}")
