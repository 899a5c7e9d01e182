"""What an edit will change of what is held, as lines of a terminal."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from devui.web.presenters.difference import as_text, difference
from devui.wire.gates import original

_TAKES_VALUE: Final = frozenset({"edit", "mock"})
_COLOURS: Final[Mapping[str, str]] = {"+": "green", "-": "red"}


def edit_lines(hold: Mapping[str, Any]) -> Iterable[str]:
    """The lines that differ, before the run goes on with them; of an answer all of it.

    `hold` is a hold of a position as the API tells it, with its `edit`. An edit
    without a value of its own, such as a call that is skipped, has no lines.
    """
    edit = hold["edit"]
    if edit["action"] not in _TAKES_VALUE:
        return
    is_edit = edit["action"] == "edit"
    before = as_text(original(hold["gate"], hold["held"])) if is_edit else ""
    for line in difference(before, as_text(edit["value"])):
        yield click.style(line, fg=_COLOURS.get(line[0]))
