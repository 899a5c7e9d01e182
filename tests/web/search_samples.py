"""A search and the palette's results."""

from devui.web import links
from devui.web.panels.apps.lists import tag_links
from devui.web.panels.palette.parts import PaletteGroup, PaletteItem, PaletteResults
from devui.web.panels.search.parts import NamedSession, SearchedSession, SearchHit, SearchPage
from devui.web.text.formats import moment
from tests.web.travel_samples import KEY, NOW

AT = moment(NOW)
TAGS = tag_links(("bug", "needs review"))
SESSION = links.session_url(KEY)
HITS = (
    SearchHit(
        3,
        links.session_url(KEY, event=3),
        "result",
        "result",
        "TravelAgent",
        AT,
        (("find_flights → ", False), ("London", True), (" <b>LHR</b>", False)),
    ),
    SearchHit(1, links.session_url(KEY, event=1), "user", "user", "user", AT, (("London", True),)),
)
PAGES = {
    "search": SearchPage(
        "auto",
        "london",
        "",
        (NamedSession(KEY, "Flight to London", "fork at #3", SESSION, "travel", AT, TAGS),),
        (
            SearchedSession(
                KEY,
                "Flight to London",
                "fork at #3",
                SESSION,
                "travel",
                "ann",
                AT,
                HITS,
                links.session_url(KEY, only="london"),
                TAGS,
            ),
        ),
        "2+ events in 1+ sessions",
        links.search_url("london", before=40),
        is_older=False,
        again_href=links.search_url("london"),
        percent=34,
    ),
    "search-empty": SearchPage("auto", "", "", (), (), "", "", False, "/search", 100),
    "search-error": SearchPage(
        "auto", "x:y", "Unknown field: x.", (), (), "", "", False, "/search?q=x:y", 100
    ),
}
RESULTS = PaletteResults(
    (
        PaletteGroup("Sessions", (PaletteItem("Flight to London", SESSION, "travel · 8 events"),)),
        PaletteGroup("Search", (PaletteItem("Search all sessions for “london”", "/search"),)),
    )
)
