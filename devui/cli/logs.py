"""What the server logs to the terminal it was started in.

Messages and tracebacks may quote agents, so nothing in them drives the terminal, and nothing looks
like a record of its own: a record begins at the left edge, its further lines do not (R21).
"""

import logging
from typing import Final

from devui.web.text.visible import visible

_FORM: Final = "%(levelname)s %(name)s: %(message)s"
_FURTHER: Final = "    "


class TerminalFormatter(logging.Formatter):
    """Writes out what a terminal would obey, and indents every line after a record's first."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text that moves no cursor and forges no other record."""
        first, *further = visible(super().format(record)).replace("\r", "\\r").split("\n")
        return "\n".join([first, *(_FURTHER + line for line in further)])


def log_to_terminal(level: str) -> None:
    """Send what every logger says from `level` on ("warning") to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(TerminalFormatter(_FORM))
    logging.basicConfig(level=level.upper(), handlers=[handler])
