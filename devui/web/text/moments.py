"""Points in time as the pages show them."""

from devui.web.parts.basics import Moment
from devui.web.text import formats


def moment(timestamp: float) -> Moment:
    """The time for people and for machines; seconds since the epoch."""
    return Moment(
        iso=formats.iso(timestamp), clock=formats.clock(timestamp), full=formats.day(timestamp)
    )
