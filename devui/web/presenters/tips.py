"""What is told of an event in passing: its row in short, and what it did to the state."""

import json
from collections.abc import Sequence
from typing import Final

from devui.debugger.nodes import name_of
from devui.debugger.preview import one_line, preview
from devui.debugger.summary import Summary
from devui.store.rows import Change, EventRow
from devui.store.state import prefixed
from devui.web.parts.session import EventTip
from devui.web.presenters.kinds import WORDS
from devui.web.text.visible import visible

_TEXT: Final = 120
_KEYS: Final = 5
_VALUE: Final = 40
"""Characters of a value."""


def event_tip(row: EventRow, changes: Sequence[Change]) -> EventTip:
    """The event's kind, author and words, and its first few changes."""
    summary = Summary.from_json(row.summary)
    return EventTip(
        number=row.number,
        kind=summary.kind,
        word=WORDS[summary.kind],
        author=visible(name_of(summary.node) or row.author),
        text=visible(one_line(summary.text, _TEXT)),
        changes=tuple(
            (visible(prefixed(each.scope, each.key)), _value(each.old), _value(each.new))
            for each in changes[:_KEYS]
        ),
        more=max(len(changes) - _KEYS, 0),
    )


def _value(text: str | None) -> str:
    return "" if text is None else visible(preview(json.loads(text), _VALUE))
