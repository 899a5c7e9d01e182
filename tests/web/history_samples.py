"""A pinned state key with its writes, for tests and pictures of the page."""

from devui.web.parts import every as parts
from devui.web.presenters.stepchart import step_chart

_BY = parts.WriterNote("#11", "/sessions/7?event=11", "FlightAgent", "via search_flights")
_START = parts.WriterNote("start", None, "", "what the session began with")
_FLIGHT = "/sessions/7?tab=state&key=flights&path=%5B0%5D.no"

BAR = parts.PinBar(
    key="flights",
    path="[0].no",
    crumbs=(parts.Crumb("flights", "/sessions/7?key=flights"), parts.Crumb("[0].no", _FLIGHT)),
    back_href="/sessions/7/writes/previous?key=flights",
    on_href=None,
    close_href="/sessions/7?event=11",
)
HISTORY = parts.KeyHistory(
    name="flights[0].no",
    by=_BY,
    number=11,
    writes=(
        parts.KeyWriteItem(
            writer=_START, changes=(), more="", edits=(), overlaps=(), here=False, later=False
        ),
        parts.KeyWriteItem(
            writer=_BY,
            changes=(
                parts.KeyChange("[0].no", _FLIGHT, '"LX 318"', '"LX 316"'),
                parts.KeyChange("", "/sessions/7?key=flights", '"<b>old</b>"', ""),
            ),
            more="2 more changes",
            edits=("edited before its commit by ruby tab",),
            overlaps=("BookingAgent (tool book_flight)",),
            here=True,
            later=False,
        ),
    ),
    earlier="/sessions/7?at=3&tab=state&key=flights",
    pieces=(parts.KeyPiece("[0].no", _FLIGHT, _BY), parts.KeyPiece("[0].price", _FLIGHT, _START)),
    warning="BookingAgent (tool book_flight) and FlightAgent",
    chart=step_chart([84.0, "<b>", -756, 3], 2),
    asked=(("key", "flights"), ("path", "[0].no"), ("event", "11")),
)
