"""What it means that a run is held at a gate, and what people do there, in words."""

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[str, str]] = {
    "before_commit": "Paused before the commit",
    "after_commit": "Paused after the commit, before the agent goes on",
    "enter_agent": "Paused before the agent begins",
    "leave_agent": "Paused as the agent ends",
    "before_model": "Paused before the model is asked",
    "after_model": "Paused with the model's answer",
    "before_tool": "Paused before the tool is called",
    "after_tool": "Paused with the tool's result",
}

HOLDING: Final[Mapping[str, str]] = {
    "before_commit": "event",
    "after_commit": "event",
    "enter_agent": "agent",
    "leave_agent": "agent",
    "before_model": "request",
    "after_model": "response",
    "before_tool": "arguments",
    "after_tool": "result",
}
"""What is held at a gate."""

CHANGED: Final[Mapping[str, str]] = {
    "edit": "edited",
    "mock": "mocked",
    "skip": "skipped",
    "reject": "rejected",
    "drop": "dropped",
    "end": "ended",
}
"""What became of something held by what a person did to it."""


def sentence(gate: str, number: int | None) -> str:
    """The gate, with the number of the event where it has one: `Paused after the commit of #3…`."""
    text = SENTENCES.get(gate, gate)
    return text.replace("the commit", f"the commit of #{number}") if number else text
