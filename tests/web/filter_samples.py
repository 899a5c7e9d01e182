"""The filter of the timeline, for the gallery and the template tests."""

from dataclasses import replace

from devui.web import links
from devui.web.parts import every as parts

KEY = 7
FILTER = parts.FilterBar(
    action=links.session_url(KEY),
    words_href=links.filter_words_url(KEY),
    clear_href=links.session_url(KEY, at=8),
    text="author:FlightAgent -partial <b>",
    applied="author:FlightAgent -partial <b>",
    error="",
    said=parts.FilterSaid(3, 9, is_on=True),
    kept=(("at", "8"),),
)
UNFILTERED = replace(FILTER, text="", applied="", said=parts.FilterSaid(), kept=())
WRONG = replace(FILTER, applied="", error="there is no <b>: among kind:")
WORDS = parts.FilterWords((parts.FilterWord("kind:call", "2 events"),))
ALL = (WRONG, WORDS)
