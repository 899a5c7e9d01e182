"""Points in time as the pages show them."""

from devui.web import formats
from devui.web.parts import Moment


def moment(timestamp: float) -> Moment:
    """The time for people and for machines; seconds since the epoch."""
    return Moment(
        iso=formats.iso(timestamp), clock=formats.clock(timestamp), full=formats.day(timestamp)
    )
