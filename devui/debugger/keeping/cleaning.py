"""A recording as a file without secrets, also those that lie across the fragments of a stream.

A recording without them plays as the whole one does: requests are compared by the hashes of what
was sent, and what is answered has the same marks wherever it comes back.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from devui.debugger.redaction import Redactor, Told
from devui.debugger.replays import recording_text
from devui.wire.framing import codecs
from devui.wire.recordings import Recording


def cleaned(recording: Recording, redactor: Redactor, told: Told) -> Recording:
    """The recording without what the redactor takes out."""
    value: dict[str, Any] = json.loads(recording_text(recording))
    _pieces(value["fragments"], redactor, told)
    for call in value["calls"]:
        answers = [answer for _, answer in call["responses"]]
        _pieces([answer for answer in answers if answer.get("partial")], redactor, told)
    for part in _parts_of_files(value["files"]):
        part["data"] = redactor.base64(part["data"], told)
    clean: Recording = codecs().RECORDING.load(json.dumps(redactor.value(value, told)).encode())
    return clean


def file_text(recording: Recording) -> str:
    """The recording as its file: in lines, so that version control shows what a new one changed."""
    return json.dumps(json.loads(recording_text(recording)), indent=1) + "\n"


def _pieces(contents: Iterable[dict[str, Any]], redactor: Redactor, told: Told) -> None:
    parts = [
        part
        for each in contents
        for part in (each.get("content") or {}).get("parts") or []
        if isinstance(part.get("text"), str)
    ]
    clean = redactor.pieces([part["text"] for part in parts], told)
    for part, text in zip(parts, clean, strict=True):
        part["text"] = text


def _parts_of_files(files: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for file in files:
        data = file["part"].get("inlineData")
        if isinstance(data, dict) and isinstance(data.get("data"), str):
            yield data
