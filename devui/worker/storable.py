"""An event as the worker sends it to the server (R53, R54)."""

from devui.runtime.events.event import Event
from devui.runtime.sessions.storable import is_whole, make_storable, read_iterators


def wire_text(event: Event) -> str:
    """The event in ADK's wire form; one that has none is made to have one."""
    try:
        read_iterators(event)
        text = event.model_dump_json(by_alias=True, exclude_none=True)
    except (ValueError, RecursionError):
        text = None
    if text is not None and is_whole(text):
        return text
    make_storable(event)
    return event.model_dump_json(by_alias=True, exclude_none=True)
