"""Exceptions of agent code, as they travel and are kept."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

LIMITED: Final = "RunLimited"
"""The type of the error that a run has which came to a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentError:
    """An exception of agent code, told so that its author can act on it."""

    type: str
    message: str
    traceback: str
    """The formatted traceback, the frames of the agent's own files included."""
    file: str | None = None
    """The innermost file of the agent's own code, where one is known, from the agents' folder."""
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
    """"" for the place of a syntax error."""
    source: str
    end: int
    """Where in the traceback its own line ends, which names file and function."""


def frames(traceback: str) -> Iterator[Frame]:
    """The frames of a traceback, the outermost first."""
    for match in _FRAME.finditer(traceback):
        source = match["source"]
        end = match.end() if source is None else match.start("source") - len("\n    ")
        function = match["function"] or ""
        yield Frame(match["file"], int(match["line"]), function, source or "", end)
