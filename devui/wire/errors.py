"""Exceptions of agent code, as they are sent and stored."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

LIMITED: Final = "RunLimited"
"""The error type of a run that reached a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentError:
    """An exception of agent code, with what its author needs to fix it."""

    type: str
    message: str
    traceback: str
    """The formatted traceback, including the frames of the agent's own files."""
    file: str | None = None
    """The innermost file of the agent's own code, from the agents' folder; None if unknown."""
    line: int | None = None


_FRAME: Final = re.compile(
    r'^ *File "(?P<file>[^"]+)", line (?P<line>[1-9]\d*)(?:, in (?P<function>.+))?$'
    r"(?:\n {4}(?P<source>\S.*))?",
    re.MULTILINE,
)


class Frame(NamedTuple):
    """A frame of a formatted traceback."""

    file: str
    line: int
    function: str
    """The function's name; "" for the location of a syntax error."""
    source: str
    end: int
    """The offset in the traceback at which the line that names file and function ends."""


def frames(traceback: str) -> Iterator[Frame]:
    """Yield the frames of a traceback, outermost first."""
    for match in _FRAME.finditer(traceback):
        source = match["source"]
        end = match.end() if source is None else match.start("source") - len("\n    ")
        function = match["function"] or ""
        yield Frame(match["file"], int(match["line"]), function, source or "", end)
