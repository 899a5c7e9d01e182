"""A recording as a file without secrets, also those that lie across the fragments of a stream.

A recording without them plays as the whole one does: requests are compared by the hashes of what
was sent, and what is answered has the same marks wherever it comes back.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from devui.debugger.fragments import clean_answers, clean_fragments
from devui.debugger.redaction import Redactor, Told
from devui.debugger.replays import recording_text
from devui.wire.framing import codecs
from devui.wire.recordings import Recording


def cleaned(recording: Recording, redactor: Redactor, told: Told) -> Recording:
    """The recording without what the redactor takes out."""
    value = streams_cleaned(recording, redactor, told)
    for part in _parts_of_files(value["files"]):
        part["data"] = redactor.base64(part["data"], told)
    clean: Recording = codecs().RECORDING.load(json.dumps(redactor.value(value, told)).encode())
    return clean


def streams_cleaned(
    recording: Recording, redactor: Redactor, told: Told | None = None
) -> dict[str, Any]:
    """The recording's JSON without what the redactor finds across the fragments of its streams."""
    value: dict[str, Any] = json.loads(recording_text(recording))
    clean_fragments(value["fragments"], redactor, told)
    for call in value["calls"]:
        clean_answers(call["responses"], redactor, told)
    return value


def file_text(recording: Recording) -> str:
    """The recording as its file: in lines, so that version control shows what a new one changed."""
    return json.dumps(json.loads(recording_text(recording)), indent=1) + "\n"


def _parts_of_files(files: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for file in files:
        data = file["part"].get("inlineData")
        if isinstance(data, dict) and isinstance(data.get("data"), str):
            yield data
