"""Describes what people changed while an event or call was held."""

from typing import Final

from devui.store.summaries import Intervention, Summary
from devui.web.text.deceptive_characters import visible
from devui.web.text.gates import CHANGED

_WHAT: Final = {
    "before_commit": "the event",
    "before_model": "the request to the model",
    "after_model": "the model's response",
    "before_tool": "the tool's arguments",
    "after_tool": "the tool's result",
}


def word(summary: Summary) -> str:
    """Return what people did to the event, in a word: `edited`; "" if nothing."""
    words = dict.fromkeys(CHANGED.get(edit.action, "edited") for edit in summary.edits)
    return ", ".join(words) or ("edited" if summary.edited else "")


def hint(summary: Summary, call: str | None = None) -> str:
    """Return what people did to the event, as a sentence; "" if nothing.

    With `call`, only what concerns the tool call with this id.
    """
    if summary.edited and not summary.edits:
        return "edited by a person while the run was paused"
    about = (edit for edit in summary.edits if call is None or edit.call in {"", call})
    return "; ".join(map(_with_change, about))


def _with_change(edit: Intervention) -> str:
    change = f": {visible(edit.change)}" if edit.change else ""
    return f"{sentence(edit.action, edit.gate, edit.by)}{change}"


def sentence(action: str, gate: str, by: str) -> str:
    """Return who did what; `gate` is where the run was held."""
    who = visible(by)
    match action:
        case "mock":
            return f"{who} answered for the {'model' if 'model' in gate else 'tool'}"
        case "skip":
            return f"{who} skipped the call"
        case "reject":
            return f"{who} rejected the call"
        case "end":
            return f"{who} ended the call"
        case "drop":
            return f"{who} dropped the event"
        case _:
            return f"{who} edited {_WHAT.get(gate, 'it')}"
