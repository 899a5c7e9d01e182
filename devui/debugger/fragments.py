"""Secrets in answers that come in fragments: no fragment tells one, nor do all of them together.

What is being streamed is told as far as its end cannot be the beginning of a secret; what has been
streamed is cleaned as the one text that it is.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from devui.debugger.redaction import Redactor, Told, alike

_CONTEXT: Final = 120
"""Characters that went out which may tell that a secret has begun in them: `://user`, `Bearer `."""


def clean_fragments(
    contents: Iterable[Any], redactor: Redactor, told: Told | None = None, *, cut: bool = False
) -> None:
    """Take the secrets out of partial answers, in ADK's wire form, in place.

    `cut`: they may end in the middle of one.
    """
    parts = [part for each in contents for part in _texts(each)]
    clean = redactor.pieces([part["text"] for part in parts], told, cut=cut)
    for part, text in zip(parts, clean, strict=True):
        part["text"] = text


def clean_answers(answers: Any, redactor: Redactor, told: Told | None = None) -> None:
    """The same for a model's answers as `[seconds, response]` each, the partial ones together."""
    pairs = answers if isinstance(answers, list) else []
    responses = [pair[1] for pair in pairs if isinstance(pair, list) and len(pair) == 2]
    partial = [each for each in responses if isinstance(each, dict) and each.get("partial")]
    clean_fragments(partial, redactor, told, cut=len(partial) == len(responses))


@dataclass(slots=True)
class _Told:
    """What a reader has of one answer."""

    end: str = ""
    """The end of what went out."""
    waiting: str = ""
    """What came after that and is held back."""

    def next(self, text: str, redactor: Redactor) -> str:
        """What goes out when `text` has come."""
        whole = self.end + self.waiting + text
        kept = whole[: max(len(redactor.settled(whole)), len(self.end))]
        clean = redactor.text(kept)
        told = clean[alike(self.end, clean) :]
        self.end, self.waiting = clean[-_CONTEXT:], whole[len(kept) :]
        return told


class Trickle:
    """The answers of one run on their way to one reader."""

    def __init__(self) -> None:
        self._answers: dict[tuple[Any, ...], _Told] = {}
        """By author, branch, and whether it is a thought."""

    def partial(self, data: str, redactor: Redactor) -> str | None:
        """A partial event as JSON, without what may be a secret's beginning; None if that is all.

        What is held back comes with the next one of the same answer, unless it was a secret.
        """
        event = json.loads(data)
        parts, changed = _texts(event), False
        for part in parts:
            place = (event.get("author"), event.get("branch"), bool(part.get("thought")))
            told = self._answers.setdefault(place, _Told()).next(part["text"], redactor)
            changed = changed or told != part["text"]
            part["text"] = told
        if not changed:
            return data
        if not any(part["text"] for part in parts) and len(parts) == len(_parts(event)):
            return None
        return json.dumps(event, ensure_ascii=False, separators=(",", ":"))

    def superseded(self, author: str) -> None:
        """An event has come that says in full what its author was streaming."""
        for place in [each for each in self._answers if each[0] == author]:
            del self._answers[place]


def _parts(event: Any) -> list[Any]:
    content = event.get("content") if isinstance(event, dict) else None
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else []


def _texts(event: Any) -> list[dict[str, Any]]:
    """The parts with a text."""
    parts = _parts(event)
    return [part for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
