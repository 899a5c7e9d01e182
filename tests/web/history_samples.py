"""A pinned state key with its writes, for the template tests and the gallery."""

from devui.web.panels.state.parts import (
    Crumb,
    KeyChange,
    KeyHistory,
    KeyPiece,
    KeyWriteItem,
    PinBar,
    WriterNote,
)
from devui.web.panels.state.step_chart import step_chart

_BY = WriterNote("#11", "/sessions/7?event=11", "FlightAgent", "via search_flights")
_START = WriterNote("start", None, "", "initial state")
_FLIGHT = "/sessions/7?tab=state&key=flights&path=%5B0%5D.no"

BAR = PinBar(
    key="flights",
    path="[0].no",
    crumbs=(Crumb("flights", "/sessions/7?key=flights"), Crumb("[0].no", _FLIGHT)),
    back_href="/sessions/7/writes/previous?key=flights",
    on_href=None,
    close_href="/sessions/7?event=11",
)
HISTORY = KeyHistory(
    name="flights[0].no",
    by=_BY,
    number=11,
    writes=(
        KeyWriteItem(
            writer=_START, changes=(), more="", edits=(), overlaps=(), here=False, later=False
        ),
        KeyWriteItem(
            writer=_BY,
            changes=(
                KeyChange("[0].no", _FLIGHT, '"LX 318"', '"LX 316"'),
                KeyChange("", "/sessions/7?key=flights", '"<b>old</b>"', ""),
            ),
            more="2 more changes",
            edits=("edited before its commit by ruby tab",),
            overlaps=("BookingAgent (tool book_flight)",),
            here=True,
            later=False,
        ),
    ),
    earlier="/sessions/7?at=3&tab=state&key=flights",
    pieces=(KeyPiece("[0].no", _FLIGHT, _BY), KeyPiece("[0].price", _FLIGHT, _START)),
    warning="BookingAgent (tool book_flight) and FlightAgent",
    chart=step_chart([84.0, "<b>", -756, 3], 2),
    query=(("key", "flights"), ("path", "[0].no"), ("event", "11")),
)
