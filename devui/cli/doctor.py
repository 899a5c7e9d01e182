"""`devui doctor`: looks at the journal, the data folder, the environment and the apps.

It changes nothing and runs no code of the apps; a server may go on meanwhile.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import click

from devui.cli.checks.environment import look_at_environment
from devui.cli.checks.findings import Finding, Level, note
from devui.cli.checks.folder import look_at_folder
from devui.cli.checks.journal import look_at_journal
from devui.cli.checks.sources import look_at_apps
from devui.cli.failures import Misused
from devui.cli.lines import plain
from devui.settings import DEFAULT_DATA_DIR

_MARKS: Final[Mapping[Level, tuple[str, str]]] = {
    "good": ("ok   ", "green"),
    "note": ("note ", "yellow"),
    "fault": ("FAULT", "red"),
}
_FAULTY: Final = 1
"""The exit status when there is a fault."""

Areas = Mapping[str, list[Finding]]


@click.command("doctor", short_help="Look whether everything is in order.")
@click.option(
    "--data-dir",
    "named",
    type=click.Path(path_type=Path),
    help="Data folder to look at; .devui if not given.",
)
@click.option(
    "--agents",
    type=click.Path(path_type=Path),
    default=".",
    show_default=True,
    help="Folder of the apps to look at.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, named: Path | None, agents: Path, as_json: bool) -> None:
    """Look at the data folder and its journal, at what devui runs on, and at the apps.

    Ends with 0 if all is well, with 1 if there is a fault, with 2 if there is nothing to look at.
    """
    if not agents.is_dir():
        raise Misused(f"there is no folder {str(agents)!r}: name that of your apps with --agents")
    found = {
        **_data(named),
        "environment": list(look_at_environment(agents)),
        "apps": list(look_at_apps(agents)),
    }
    faults = sum(each.level == "fault" for findings in found.values() for each in findings)
    for line in [_as_json(found)] if as_json else _lines(found, faults):
        click.echo(line)
    ctx.exit(_FAULTY if faults else 0)


def _data(named: Path | None) -> Areas:
    """What is found in the data folder; raises Misused for one that was named and is not there."""
    folder = DEFAULT_DATA_DIR if named is None else named
    if not folder.is_dir():
        if named is not None:
            raise Misused(f"there is no data folder {str(folder)!r}")
        return {"data folder": [note(f"there is no data folder {str(folder)!r} yet")]}
    return {
        "journal": list(look_at_journal(folder)),
        "data folder": list(look_at_folder(folder)),
    }


def _as_json(found: Areas) -> str:
    told = {area: [each._asdict() for each in findings] for area, findings in found.items()}
    return json.dumps(told, ensure_ascii=False)


def _lines(found: Areas, faults: int) -> Iterable[str]:
    for area, findings in found.items():
        yield click.style(area.capitalize(), bold=True)
        for level, what, advice in findings:
            mark, colour = _MARKS[level]
            yield f"  {click.style(mark, fg=colour)}  {plain(what)}"
            if advice:
                yield f"         → {plain(advice)}"
    yield "All is well." if not faults else f"{faults} {'fault' if faults == 1 else 'faults'}."
