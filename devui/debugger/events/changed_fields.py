"""Lists the fields of a tool's result that a person changed, on one line: `temperature 22 → 72`."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, cast

from devui.debugger.events.preview import preview
from devui.debugger.events.summary import unwrapped
from devui.debugger.history.blame import Absent, differences
from devui.debugger.history.paths import path_text
from devui.store.rows import Json
from devui.wire.events import Event, Response, fields_in
from devui.wire.gates import original

_MOST: Final = 2
"""How many changes are listed; a row has no room for more."""
_MAX_VALUE: Final = 24
"""Characters per value."""


def changed_at(gate: str, payload: Any, value: Any) -> str:
    """Describe what an edit at a gate changed in a result; "" if it didn't change one."""
    if gate == "before_commit":
        return changed_results(Event.of(fields_in(payload)), Event.of(fields_in(value)))
    return _line(original(gate, payload), value) if gate == "after_tool" else ""


def changed_results(before: Event, after: Event) -> str:
    """Describe how the results of an event differ from those of the event it replaced."""
    pairs = (
        (old, new)
        for place, new in enumerate(after.responses)
        for old in _same_call(before.responses, new.id, place)
    )
    return ", ".join(line for old, new in pairs if (line := _line(old.result, new.result)))


def _same_call(responses: Sequence[Response], call: str | None, place: int) -> Sequence[Response]:
    """Return the response to this call, if any; a call without an id is found by its place."""
    if call is None:
        return responses[place : place + 1]
    return [response for response in responses if response.id == call][:1]


def _line(before: Any, after: Any) -> str:
    return ", ".join(islice(_changes(before, after), _MOST))


def _changes(before: Any, after: Any) -> Iterator[str]:
    """Yield the changes one by one; nothing if the whole value differs: the row shows that."""
    old, new = cast("Json", unwrapped(before)), cast("Json", unwrapped(after))
    for each in differences(old, new):
        if not each.path:
            continue
        place = path_text(each.path)
        if isinstance(each.new, Absent):
            yield f"{place} removed"
        elif isinstance(each.old, Absent):
            yield f"{place} {preview(each.new, _MAX_VALUE)} added"
        else:
            yield f"{place} {preview(each.old, _MAX_VALUE)} → {preview(each.new, _MAX_VALUE)}"
