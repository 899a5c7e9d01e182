"""What the server logs to the terminal it was started in.

Messages and tracebacks may quote agents, so nothing in them drives the terminal, and nothing looks
like a record of its own: a record begins at the left edge, its further lines do not (R21).
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from devui.web.security.veil import Veil
from devui.web.text.visible import visible

_FORM: Final = "%(levelname)s %(name)s: %(message)s"
_FURTHER: Final = "    "


class TerminalFormatter(logging.Formatter):
    """Writes out what a terminal would obey, and indents every line after a record's first.

    `clean` takes secrets out.
    """

    def __init__(self, form: str, clean: Callable[[str], str]) -> None:
        super().__init__(form)
        self._clean = clean

    def format(self, record: logging.LogRecord) -> str:
        """The record as text that moves no cursor and forges no other record."""
        told = visible(self._clean(super().format(record)))
        first, *further = told.replace("\r", "\\r").split("\n")
        return "\n".join([first, *(_FURTHER + line for line in further)])


def log_to_terminal(level: str, agents: Path) -> None:
    """Send what every logger says from `level` on ("warning") to standard error.

    What is secret to the apps in the folder `agents` is left out (R64).
    """
    handler = logging.StreamHandler()
    handler.setFormatter(TerminalFormatter(_FORM, Veil(agents).text))
    logging.basicConfig(level=level.upper(), handlers=[handler])
