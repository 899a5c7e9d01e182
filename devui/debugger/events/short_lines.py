"""What an event with several calls or results says where a line has little room."""

from typing import Final

from devui.debugger.events.preview import ELLIPSIS, shortened
from devui.store.summaries import Summary

_FITS: Final = 44
"""Characters of a line that a timeline shows beside an inspector, about."""
_SHARED: Final = 28
"""Characters of arguments, or results, that the calls of one line share."""
_FEW: Final = 5
"""Characters that say nothing about a value."""


def short_line(summary: Summary) -> str:
    """The text of a summary, in which each of several calls or results has room."""
    calls, responses = summary.calls, summary.responses
    if len(summary.text) <= _FITS or summary.edits:
        return summary.text
    if summary.kind == "call" and len(calls) > 1:
        room = _SHARED // len(calls)
        return ", ".join(f"{call.name}({_beginning(call.args, room)})" for call in calls)
    are_named = summary.text.startswith(tuple(f"{each.name} → " for each in responses[:1]))
    if summary.kind == "result" and len(responses) > 1 and are_named:
        room = _SHARED // len(responses)
        return ", ".join(f"{each.name} → {_beginning(each.preview, room)}" for each in responses)
    return summary.text


def _beginning(text: str, room: int) -> str:
    return shortened(text, room) if room > _FEW or len(text) <= room else ELLIPSIS
