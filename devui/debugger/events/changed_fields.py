"""Lists what a person changed in an event or a result, on one line: `temperature 22 → 72`."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar, cast

from devui.debugger.events.preview import preview
from devui.debugger.events.summary import unwrapped
from devui.debugger.history.blame import Absent, differences
from devui.debugger.history.paths import path_text
from devui.store.rows import Json
from devui.wire.events import Call, Event, Response, fields_in
from devui.wire.gates import original

_MOST: Final = 2
"""How many changes are listed; a row has no room for more."""
_MAX_VALUE: Final = 24
"""Characters per value."""
_MAX_TEXT: Final = 80
"""Characters of an edited text."""

_Same = TypeVar("_Same", Call, Response)


def changed_at(gate: str, payload: Any, value: Any) -> str:
    """Describe what an edit at a gate changed; "" for arguments, which the event's mark has, and
    for requests."""
    if gate in {"before_commit", "after_model"}:
        return changed_event(Event.of(fields_in(payload)), Event.of(fields_in(value)))
    return _line(original(gate, payload), value) if gate == "after_tool" else ""


def changed_event(before: Event, after: Event) -> str:
    """Describe how an event's calls, results and text differ from those of the event it replaced;
    "" for other differences."""
    lines = [
        *(_line(old.args, new.args) for old, new in _pairs(before.calls, after.calls)),
        *(_line(old.result, new.result) for old, new in _pairs(before.responses, after.responses)),
    ]
    old_text = _text(before)
    if old_text and old_text != _text(after):
        lines.append(f"was {preview(old_text, _MAX_TEXT)}")
    return ", ".join(filter(None, lines))


def _text(event: Event) -> str:
    return "".join(part.text for part in event.parts if part.text and not part.is_thought)


def _pairs(before: Sequence[_Same], after: Sequence[_Same]) -> Iterator[tuple[_Same, _Same]]:
    """Yield the old and new call or response of the same id, or place if it has no id."""
    for place, new in enumerate(after):
        same = [old for old in before if old.id == new.id]
        for old in same[:1] if new.id else before[place : place + 1]:
            yield old, new


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
