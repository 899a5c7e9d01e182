"""Redacts recordings for files, including secrets that span the fragments of a stream.

A redacted recording replays like the original: requests are compared by hashes of what was sent,
and an answer has the same marks wherever it comes up again.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from devui.debugger.secrets.fragments import clean_answers, clean_fragments
from devui.debugger.secrets.redaction import Redactor, Report
from devui.wire.framing import codecs
from devui.wire.recordings import Recording


def cleaned(recording: Recording, redactor: Redactor, report: Report) -> Recording:
    """Redact a recording."""
    value = streams_cleaned(recording, redactor, report)
    for part in _parts_of_files(value["files"]):
        part["data"] = redactor.base64(part["data"], report)
    clean: Recording = codecs().RECORDING.of_value(redactor.value(value, report))
    return clean


def streams_cleaned(
    recording: Recording, redactor: Redactor, report: Report | None = None
) -> dict[str, Any]:
    """Return the recording's JSON, redacted only in its streams, across their fragments."""
    value: dict[str, Any] = codecs().RECORDING.to_value(recording)
    clean_fragments(value["fragments"], redactor, report)
    for call in value["calls"]:
        clean_answers(call["responses"], redactor, report)
    return value


def file_text(recording: Recording) -> str:
    """Return a recording's file, with line breaks so that version control shows what changed."""
    text: str = codecs().RECORDING.dump(recording, indent=1).decode()
    return f"{text}\n"


def _parts_of_files(files: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for file in files:
        data = file["part"].get("inlineData")
        if isinstance(data, dict) and isinstance(data.get("data"), str):
            yield data
