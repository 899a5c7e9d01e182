"""The switch of the middle pane between the events and the trace."""

from devui.store.rows import EventRow, SessionRow
from devui.web.links import session_url
from devui.web.page_query import TRACE, PageQuery, View
from devui.web.panels.trace.panel import trace_panel
from devui.web.panels.trace.parts import TracePanel, ViewLink, ViewSwitch
from devui.web.services import Services


def view_switch(
    session: SessionRow, row: EventRow | None, tab: str | None, query: PageQuery
) -> ViewSwitch:
    """Return links to the same page with each of the views."""

    def href(view: View | None) -> str:
        return session_url(
            session.key,
            event=row.number if row else None,
            tab=tab,
            at=query.at.number if query.at else None,
            pin=query.pin,
            since=query.since.number if query.since else None,
            only=query.filter,
            hits=query.past,
            file=query.file,
            view=view,
        )

    return ViewSwitch(
        (
            ViewLink("events", "Events", href(None), query.view is None),
            ViewLink("trace", "Trace", href(TRACE), query.view == TRACE),
        ),
        query.view,
    )


async def shown_trace(
    services: Services, session: SessionRow, row: EventRow | None, query: PageQuery
) -> TracePanel | None:
    """Return the trace if the page shows it."""
    return await trace_panel(services, session, row) if query.view == TRACE else None
