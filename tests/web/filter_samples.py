"""The filter of the timeline, for the gallery and the template tests."""

from dataclasses import replace

from devui.web import links
from devui.web.panels.timeline.panel_parts import (
    FilterBar,
    FilterChip,
    FilterChips,
    FilterSummary,
    FilterWord,
    FilterWords,
)

KEY = 7
FILTER = FilterBar(
    action=links.session_url(KEY),
    words_href=links.filter_words_url(KEY),
    clear_href=links.session_url(KEY, at=8),
    text="author:FlightAgent -partial <b>",
    active_text="author:FlightAgent -partial <b>",
    error="",
    summary=FilterSummary(3, 9, is_on=True),
    other_fields=(("at", "8"),),
)
UNFILTERED = replace(FILTER, text="", active_text="", summary=FilterSummary(), other_fields=())
WRONG = replace(FILTER, active_text="", error="Unknown field: <b>. Use kind:")
WORDS = FilterWords((FilterWord("kind:call", "2 events"),))
CHIPS = FilterChips(
    tuple(
        FilterChip(
            f"chip-kind-{n}",
            kind,
            f"kind:{kind}",
            kind,
            n + 1,
            is_pressed=kind == "call",
            filter=f"kind:{kind}",
            href=links.moment_url(KEY, None, only=f"kind:{kind}"),
        )
        for n, kind in enumerate(("user", "call"))
    ),
    (
        FilterChip(
            "chip-author-0",
            "<b>Agent",
            'author:"<b>Agent"',
            "",
            2,
            is_pressed=False,
            filter='author:"<b>Agent"',
            href=links.moment_url(KEY, None, only='author:"<b>Agent"'),
        ),
    ),
)
ALL = (WRONG, WORDS, CHIPS)
