"""Searches by tag: `tag:bug is:error` is about events of the sessions with this tag."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from devui.debugger.predicates.filters import FilterInput, TagTerm, split_tags
from devui.store.tags import TagChoice, Tags


@dataclass(frozen=True, slots=True)
class SearchInput:
    """What someone typed into a search: terms about tags, and a filter of events."""

    text: str
    tags: Sequence[TagTerm]
    events: FilterInput

    @classmethod
    def read(cls, text: str | None) -> Self:
        """Parse any text; an invalid filter sets `events.error`."""
        tags, rest = split_tags(text or "")
        return cls(text or "", tags, FilterInput.read(rest))


async def tagged_sessions(
    tags: Tags, terms: Sequence[TagTerm], app: str | None = None
) -> set[int] | None:
    """Return the keys of the sessions that the terms select; None without terms, for all."""
    if not terms:
        return None
    names = [each.folded for each in await tags.counts(app)]
    choices = [
        TagChoice([name for name in names if term.matches(name)], has=not term.negated)
        for term in terms
    ]
    return await tags.sessions(choices, app)
