"""`devui doctor`: checks the journal, the data folder, the environment and the apps.

It changes nothing and runs none of the apps' code; a server may keep running.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import click

from devui.cli.doctor.apps import check_apps, check_workers, engine_context
from devui.cli.doctor.environment import check_environment
from devui.cli.doctor.finding import Finding, Level, note
from devui.cli.doctor.journal import check_data_folder, check_database
from devui.cli.options import engine_option, json_option, json_text, python_option
from devui.cli.output import plain
from devui.failures import BadRequestError
from devui.interpreter import Interpreter, WrongPython
from devui.settings import DEFAULT_DATA_DIR
from devui.wire.engines import EngineChoice

_MARKS: Final[Mapping[Level, tuple[str, str]]] = {
    "good": ("ok   ", "green"),
    "note": ("note ", "yellow"),
    "fault": ("FAULT", "red"),
}
_FAULTY: Final = 1
"""The exit status if there is a fault."""

Areas = Mapping[str, list[Finding]]


@click.command("doctor", short_help="Check the installation, the journal and the apps.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    help="Data folder to check; by default .devui.",
)
@click.option(
    "--agents",
    type=click.Path(path_type=Path),
    default=".",
    show_default=True,
    help="Folder of the apps to check.",
)
@engine_option
@python_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    data_dir: Path | None,
    agents: Path,
    engine: EngineChoice,
    python: Path | None,
    as_json: bool,
) -> None:
    """Check the data folder and its journal, what devui runs on, and the apps.

    Exit status: 0 if everything is fine, 1 on a fault, 2 if there is nothing to check.
    """
    if not agents.is_dir():
        raise BadRequestError(
            f"there is no folder {str(agents)!r}; give the folder of your apps with --agents"
        )
    try:
        interpreter = Interpreter.at(python)
    except WrongPython as error:
        raise BadRequestError(str(error)) from error
    areas = {
        **_data(data_dir),
        "environment": list(check_environment(agents)),
        "workers": list(check_workers(interpreter)),
        "apps": list(
            check_apps(agents, engine_context(interpreter, engine, data_dir or DEFAULT_DATA_DIR))
        ),
    }
    faults = sum(each.level == "fault" for findings in areas.values() for each in findings)
    for line in [_as_json(areas)] if as_json else _lines(areas, faults):
        click.echo(line)
    ctx.exit(_FAULTY if faults else 0)


def _data(data_dir: Path | None) -> Areas:
    """Check the data folder. Raises BadRequestError if it was named but doesn't exist."""
    folder = DEFAULT_DATA_DIR if data_dir is None else data_dir
    if not folder.is_dir():
        if data_dir is not None:
            raise BadRequestError(
                f"there is no data folder {str(folder)!r}; name another with --data-dir"
            )
        return {"data folder": [note(f"there is no data folder {str(folder)!r} yet")]}
    return {
        "journal": list(check_database(folder)),
        "data folder": list(check_data_folder(folder)),
    }


def _as_json(areas: Areas) -> str:
    value = {area: [each._asdict() for each in findings] for area, findings in areas.items()}
    return json_text(value)


def _lines(areas: Areas, faults: int) -> Iterable[str]:
    for area, findings in areas.items():
        yield click.style(area.capitalize(), bold=True)
        for level, what, advice in findings:
            mark, color = _MARKS[level]
            yield f"  {click.style(mark, fg=color)}  {plain(what)}"
            if advice:
                yield f"         → {plain(advice)}"
    yield "No faults found." if not faults else f"{faults} {'fault' if faults == 1 else 'faults'}."
