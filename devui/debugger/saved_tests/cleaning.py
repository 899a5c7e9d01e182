"""A recording as a file without secrets, also those that lie across the fragments of a stream.

A recording without them plays as the whole one does: requests are compared by the hashes of what
was sent, and what is answered has the same marks wherever it comes back.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from devui.debugger.secrets.fragments import clean_answers, clean_fragments
from devui.debugger.secrets.redaction import Redactor, Report
from devui.wire.framing import codecs
from devui.wire.recordings import Recording


def cleaned(recording: Recording, redactor: Redactor, report: Report) -> Recording:
    """The recording without what the redactor takes out."""
    value = streams_cleaned(recording, redactor, report)
    for part in _parts_of_files(value["files"]):
        part["data"] = redactor.base64(part["data"], report)
    clean: Recording = codecs().RECORDING.of_value(redactor.value(value, report))
    return clean


def streams_cleaned(
    recording: Recording, redactor: Redactor, report: Report | None = None
) -> dict[str, Any]:
    """The recording's JSON without what the redactor finds across the fragments of its streams."""
    value: dict[str, Any] = codecs().RECORDING.to_value(recording)
    clean_fragments(value["fragments"], redactor, report)
    for call in value["calls"]:
        clean_answers(call["responses"], redactor, report)
    return value


def file_text(recording: Recording) -> str:
    """The recording as its file: in lines, so that version control shows what a new one changed."""
    text: str = codecs().RECORDING.dump(recording, indent=1).decode()
    return f"{text}\n"


def _parts_of_files(files: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for file in files:
        data = file["part"].get("inlineData")
        if isinstance(data, dict) and isinstance(data.get("data"), str):
            yield data
