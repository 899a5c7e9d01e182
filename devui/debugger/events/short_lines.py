"""Shortened texts of events with several calls or results, for narrow lines."""

from typing import Final

from devui.debugger.events.preview import ELLIPSIS, shortened
from devui.store.summaries import Summary

_FITS: Final = 44
"""How many characters of a line fit in a timeline beside an inspector, roughly."""
_SHARED: Final = 28
"""Characters for arguments or results, shared by all calls on a line."""
_FEW: Final = 5
"""The longest beginning of a value that says nothing about it, in characters."""


def short_line(summary: Summary) -> str:
    """Return the text of a summary, in which each of several calls or results gets some room."""
    calls, responses = summary.calls, summary.responses
    if len(summary.text) <= _FITS or summary.edits:
        return summary.text
    if summary.kind == "call" and len(calls) > 1:
        limit = _SHARED // len(calls)
        return ", ".join(f"{call.name}({_beginning(call.args, limit)})" for call in calls)
    are_named = summary.text.startswith(tuple(f"{each.name} → " for each in responses[:1]))
    if summary.kind == "result" and len(responses) > 1 and are_named:
        limit = _SHARED // len(responses)
        return ", ".join(f"{each.name} → {_beginning(each.preview, limit)}" for each in responses)
    return summary.text


def _beginning(text: str, limit: int) -> str:
    return shortened(text, limit) if limit > _FEW or len(text) <= limit else ELLIPSIS
