"""Redacts secrets in streamed answers, treating the fragments as one text."""

from collections.abc import Iterable
from typing import Any

from devui.debugger.secrets.redaction import Redactor, Report


def clean_fragments(
    contents: Iterable[Any], redactor: Redactor, report: Report | None = None, *, cut: bool = False
) -> None:
    """Redact partial answers, in ADK's wire form, in place.

    Set `cut` if they may end in the middle of a secret.
    """
    parts = [part for each in contents for part in _texts(each)]
    clean = redactor.pieces([part["text"] for part in parts], report, cut=cut)
    for part, text in zip(parts, clean, strict=True):
        part["text"] = text


def clean_answers(answers: Any, redactor: Redactor, report: Report | None = None) -> None:
    """Redact the partial ones among a model's answers, which are `[seconds, response]` pairs."""
    pairs = answers if isinstance(answers, list) else []
    responses = [pair[1] for pair in pairs if isinstance(pair, list) and len(pair) == 2]
    partial = [each for each in responses if isinstance(each, dict) and each.get("partial")]
    clean_fragments(partial, redactor, report, cut=len(partial) == len(responses))


def _parts(event: Any) -> list[Any]:
    content = event.get("content") if isinstance(event, dict) else None
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else []


def _texts(event: Any) -> list[dict[str, Any]]:
    """Return the parts that have a text."""
    parts = _parts(event)
    return [part for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
