"""The filter of the timeline, for the gallery and the template tests."""

from dataclasses import replace

from devui.web import links
from devui.web.panels.timeline.parts import FilterBar, FilterSummary, FilterWord, FilterWords

KEY = 7
FILTER = FilterBar(
    action=links.session_url(KEY),
    words_href=links.filter_words_url(KEY),
    clear_href=links.session_url(KEY, at=8),
    text="author:FlightAgent -partial <b>",
    applied="author:FlightAgent -partial <b>",
    error="",
    summary=FilterSummary(3, 9, is_on=True),
    other_fields=(("at", "8"),),
)
UNFILTERED = replace(FILTER, text="", applied="", summary=FilterSummary(), other_fields=())
WRONG = replace(FILTER, applied="", error="unknown field <b>:. Use kind:")
WORDS = FilterWords((FilterWord("kind:call", "2 events"),))
ALL = (WRONG, WORDS)
