"""What a model counted for one answer, read out of the event that holds the answer.

Providers count alike where ADK's events carry their figures (events seed, `usageMetadata`): the
prompt includes what came from a cache, and the total is everything. Answer and thinking are
together what the total has beyond the prompt; some providers count the thinking into the answer,
others beside it, and this holds for both.
"""

from devui.store.summaries import Usage
from devui.wire.events import Event, Fields

_MOST = 2**40


def usage_of(event: Event) -> Usage | None:
    """The tokens of the event's answer; None when no model counted any."""
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
    """All tokens of the event's answer, as far as a model can have counted them."""
    total = event.usage.get("totalTokenCount")
    return None if total is None else _count(total)


def _of(counts: Fields, name: str) -> int:
    return _count(counts.get(name))


def _count(value: object) -> int:
    """A count that a model can have made; 0 for anything else."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return max(0, min(int(str(value)), _MOST)) if is_number else 0
