"""Reads a model's token counts from the event that holds its answer.

In ADK's events (events seed, `usageMetadata`), all providers agree that the prompt includes cached
tokens and that the total is everything. Some count thinking as part of the answer, others
separately, so the output, which includes thinking, is computed as the total minus the prompt.
"""

from devui.store.summaries import Usage
from devui.wire.events import Event, Fields

_MOST = 2**40


def usage_of(event: Event) -> Usage | None:
    """Return the tokens of the event's answer; None if no model counted any."""
    counts = event.usage
    if not any(_count(value) for value in counts.values()):
        return None
    prompt = _of(counts, "promptTokenCount") + _of(counts, "toolUsePromptTokenCount")
    thoughts = _of(counts, "thoughtsTokenCount")
    total = _of(counts, "totalTokenCount")
    output = total - prompt if total else _of(counts, "candidatesTokenCount") + thoughts
    return Usage(
        model=event.model,
        prompt=prompt,
        cached=min(_of(counts, "cachedContentTokenCount"), prompt),
        output=max(output, 0),
        thoughts=min(thoughts, max(output, 0)),
    )


def total_of(event: Event) -> int | None:
    """Return the total tokens of the event's answer, as a plausible count; None if not reported."""
    total = event.usage.get("totalTokenCount")
    return None if total is None else _count(total)


def _of(counts: Fields, name: str) -> int:
    return _count(counts.get(name))


def _count(value: object) -> int:
    """Limit a count to the plausible range; 0 for anything that isn't an integer."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return max(0, min(int(str(value)), _MOST)) if is_number else 0
