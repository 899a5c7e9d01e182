"""Compares a model's answer with its event, which callbacks and plugins may have changed."""

from dataclasses import dataclass
from typing import Self

from devui.worker.engines.kit import Event, LlmResponse
from devui.worker.json_text import as_json


@dataclass(frozen=True, slots=True)
class AnswerContent:
    """The text and calls of an answer, copied before anything can change them in place."""

    text: str
    calls: tuple[str, ...]
    has_code: bool

    @classmethod
    def of(cls, answer: LlmResponse | Event) -> Self:
        """Extract the text and calls of an answer or its event."""
        parts = (answer.content and answer.content.parts) or []
        calls = [part.function_call for part in parts if part.function_call]
        return cls(
            text="".join(part.text for part in parts if part.text),
            calls=tuple(as_json([call.name, call.args or {}]) for call in calls),
            has_code=any(part.executable_code or part.code_execution_result for part in parts),
        )

    def differs(self, event: Self) -> bool:
        """Return whether an event says something else. Whitespace, and the division of the text
        into parts, don't count: code executors and planners change these."""
        if event.has_code:
            return False
        if self.calls != event.calls:
            return True
        return self.text != event.text and _unwrapped(self.text) != _unwrapped(event.text)


def _unwrapped(text: str) -> str:
    return "".join(text.split())
