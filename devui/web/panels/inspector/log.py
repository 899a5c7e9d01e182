"""Lines that agents print or log."""

from devui.store.rows import OutputLine
from devui.web.panels.inspector.parts import LogLine
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clipped


def log_line(number: int, line: OutputLine) -> LogLine:
    """Return one line of an agent's output; `number` counts within its run."""
    return LogLine(
        number=number,
        stream=visible(line.stream),
        text=visible(clipped(line.text)),
        clock=formats.clock(line.at),
    )
