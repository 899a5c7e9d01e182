"""Writes the test file, with one function per run."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from devui.debugger.saved_tests.checks import Check
from devui.debugger.saved_tests.literals import literal, text
from devui.wire.recordings import Recording

_WORDS: Final = 7
_LONGEST: Final = 60
_VALUE_LENGTH: Final = 80

_HEAD = '''\
"""Session {session} of {app}, saved as a test.

`devui test` replays the recordings next to this file: it calls no models and no tools, and sends
nothing over the network. Edit the checks as you like.
"""

from pathlib import Path

from devui.testing import play

HERE = Path(__file__).parent
AGENT = HERE / {agent}
'''

_TEST = """

def {name}() -> None:
{said}    result = play(AGENT, HERE / {file})

{checks}
"""


@dataclass(frozen=True, slots=True)
class RunTest:
    """A run as a test."""

    name: str
    """The name of the function."""
    recording: Recording
    checks: Sequence[Check]


def file_name(app: str, session: int) -> str:
    """Return the default name of the file, without its extension."""
    return f"test_{_identifier(app)}_{session}"


def recording_file(name: str, place: int) -> str:
    """Return the path of the nth recording, relative to the folder of the test file."""
    return f"{name}.recordings/{place}.json"


def function_names(recordings: Iterable[Recording]) -> list[str]:
    """Return a name for each run, made from the user's message."""
    names: list[str] = []
    for place, recording in enumerate(recordings, start=1):
        words = _identifier(_message_text(recording)).split("_")[:_WORDS]
        slug = "_".join(words)[:_LONGEST].strip("_")
        name = f"test_{slug or f'run_{place}'}"
        names.append(name if name not in names else f"{name}_{place}")
    return names


def test_file(runs: Sequence[RunTest], *, name: str, agent: str, session: int) -> str:
    """Return the text of the file. `agent` is the path from the file's folder to the app's."""
    app = runs[0].recording.app
    head = _HEAD.format(session=session, app=app, agent=text(agent))
    return head + "".join(
        _TEST.format(
            name=each.name,
            said=_comment(_message_text(each.recording)),
            file=text(recording_file(name, place)),
            checks="\n".join(check.code for check in each.checks) or "    assert result.events",
        )
        for place, each in enumerate(runs, start=1)
    )


def _message_text(recording: Recording) -> str:
    message: dict[str, Any] = recording.message or {}
    return " ".join(part.get("text") or "" for part in message.get("parts") or []).strip()


def _comment(text: str) -> str:
    line = " ".join(text.split())
    excerpt = line if len(line) <= _VALUE_LENGTH else f"{line[:_VALUE_LENGTH]}…"
    return f"    # The user says: {literal(excerpt)}\n" if excerpt else ""


def _identifier(value: str) -> str:
    plain = unicodedata.normalize("NFKD", value).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
