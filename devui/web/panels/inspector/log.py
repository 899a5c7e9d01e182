"""Lines that agents printed or logged."""

from devui.store.rows import OutputLine
from devui.web.panels.inspector.parts import LogLine
from devui.web.text import formats
from devui.web.text.formats import clipped
from devui.web.text.visible import visible


def log_line(number: int, line: OutputLine) -> LogLine:
    """A line that the agent printed or logged; `number` counts within its run."""
    return LogLine(
        number=number,
        stream=visible(line.stream),
        text=visible(clipped(line.text)),
        clock=formats.clock(line.at),
    )
