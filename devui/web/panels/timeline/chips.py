"""The chips above the timeline: links that add a kind or an author to the filter, or remove it."""

from collections import Counter
from typing import Final

from devui.debugger.predicates.filters import Filter, exact, toggled
from devui.store.journal import Journal
from devui.store.summaries import KINDS, ROW_WORDS
from devui.web.links import moment_url
from devui.web.panels.timeline.panel_parts import FilterChip, FilterChips
from devui.web.text.deceptive_characters import visible
from devui.wire.events import USER

_MOST: Final = 40
"""Maximum number of authors with a chip."""


async def filter_chips(
    journal: Journal, session: int, event_filter: Filter | None, *, at: int | None = None
) -> FilterChips:
    """Return the chips with their numbers of events, up to event `at` if given."""
    kinds = Counter((await journal.totals.kinds(session))[:at])
    if len(kinds) < 2:
        return FilterChips()
    authors = Counter((await journal.totals.authors(session))[:at])
    text = event_filter.text if event_filter else ""
    terms = {
        (term.field, name)
        for term in (event_filter.words if event_filter else ())
        for name in term.names
    }

    def chip(place: int, field: str, name: str, count: int) -> FilterChip:
        word = ROW_WORDS.get(name, name) if field == "kind" else name
        # A filter may name a kind by either word: `kind:human`, `kind:asks`.
        term = word if (field, word.lower()) in terms else name
        after = toggled(text, field, term)
        return FilterChip(
            id=f"chip-{field}-{place}",
            text=word,
            term=f"{field}:{exact(field, term)}",
            kind=name if field == "kind" else "",
            count=count,
            is_pressed=(field, term.lower()) in terms,
            filter=after,
            href=moment_url(session, at, only=after),
        )

    agents = [name for name in authors if name not in {"", USER} and name == visible(name)][:_MOST]
    return FilterChips(
        tuple(chip(n, "kind", kind, kinds[kind]) for n, kind in enumerate(KINDS) if kinds[kind]),
        tuple(chip(n, "author", name, authors[name]) for n, name in enumerate(agents)),
    )
