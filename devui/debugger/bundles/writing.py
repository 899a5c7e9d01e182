"""Writes a session as the lines of a bundle: one JSON document with one record per line."""

import json
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from devui.debugger.background.slices import Yielder, beside, encode
from devui.debugger.bundles.extras import MemberRestorer
from devui.debugger.bundles.schema import FORMAT, VERSION
from devui.debugger.secrets.fragments import clean_answers, clean_fragments
from devui.debugger.secrets.redaction import MARK, NOTHING, Redactor, without_keys
from devui.store.exports import head, records
from devui.store.runs.spans import Record, names_in
from devui.store.sqlite.database import Snapshot
from devui.wire.gates import EDITED

_PLAIN: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"))

OPENING: Final = '"records":['

Report = Callable[[str, str, str], None]
"""Called with the place, kind and text of each redaction."""


@dataclass(slots=True)
class Cleaning:
    """The redaction of a bundle: what to redact, and how much has been."""

    redactor: Redactor = NOTHING
    keys: Collection[str] = ()
    """State keys whose values are redacted, with their prefixes."""
    report: Report | None = None
    count: int = 0

    def record(self, record: Record) -> Record:
        """Redact a record."""
        place = place_of(record)
        keyless = record
        if self.keys:
            keyless = without_keys(record, self.keys, lambda key: self._key(place, key))
            name = record.get("key")
            if (
                record["type"] == "write"
                and self._has_chosen_key(record)
                and record["value"] != MARK
            ):
                self._key(place, str(name))
                keyless = {**keyless, "value": MARK}

        def hear(kind: str, text: str) -> None:
            self._hear(place, kind, text)

        if record["type"] == "span":
            clean_answers(keyless.get("result"), self.redactor, hear)
        clean: Record = self.redactor.value(keyless, hear)
        if record["type"] == "event":
            _clean_bytes(keyless["event"], clean["event"], self.redactor)
        if record["type"] == "run" and record["unfinished"]:
            for answer in clean["unfinished"]:
                answer["text"] = self.redactor.growing(answer["text"])
        if record["type"] == "artifact" and "data" in record:
            clean["data"] = self.redactor.base64(record["data"], hear)
        return clean

    def header(self, members: Record) -> Record:
        """Redact the members of the first or last line."""
        clean: Record = self.record({"type": "session", "members": members})["members"]
        return clean

    def chunks(self, chunks: Sequence[Record]) -> list[Record]:
        """Redact the partial events of one answer, including secrets that are split among them."""
        place = place_of(chunks[0])
        events = [chunk["data"] for chunk in chunks]

        def hear(kind: str, text: str) -> None:
            self._hear(place, kind, text)

        clean_fragments(events, self.redactor, hear, cut=True)
        return [self.record(chunk) for chunk in chunks]

    def _has_chosen_key(self, record: Record) -> bool:
        scope, key = record["scope"], record["key"]
        return (key if scope == "session" else f"{scope}:{key}") in self.keys

    def _key(self, place: str, key: str) -> None:
        self._hear(place, f"the state key {key}", "")

    def _hear(self, place: str, kind: str, text: str) -> None:
        self.count += 1
        if self.report is not None:
            self.report(place, kind, text)


@dataclass(slots=True)
class _Labels:
    """Names that don't depend on the journal."""

    runs: dict[str, str] = field(default_factory=dict)
    edits: dict[int, int] = field(default_factory=dict)
    pieces: dict[str, str] = field(default_factory=dict)

    def record(self, record: Record) -> Record:
        """Replace the journal's names in the record with labels."""
        if record.get("run") is not None:
            record["run"] = self.runs.setdefault(record["run"], f"r{len(self.runs) + 1}")
        if "edit" in record:
            record["edit"] = self.edits.setdefault(record["edit"], len(self.edits) + 1)
        if record["type"] == "event":
            relabel(record["event"], self.edits.get)
        elif record["type"] == "edit":
            relabel(record["before"], self.edits.get)
            relabel(record["after"], self.edits.get)
        elif record["type"] == "piece":
            record["name"] = self._piece(record["name"])
        elif record["type"] == "span" and record["kind"] == "model":
            record["sent"] = rename_pieces(record["sent"], self._piece)
        return record

    def _piece(self, name: str) -> str:
        return self.pieces.setdefault(name, f"p{len(self.pieces) + 1}")


async def lines(
    snapshot: Snapshot, key: int, cleaning: Cleaning, *, extra: bool = True
) -> AsyncIterator[str]:
    """Yield the lines of a bundle, with line breaks. Raises SessionNotFound, JournalDamaged.

    With `extra`, those of an imported session include what was set aside from its own bundle.
    """
    fields = await head(snapshot, key)
    before, unknown = fields.pop("redacted"), fields.pop("extra")
    back = MemberRestorer(unknown if extra else {})
    header = cleaning.header(back.header({"format": FORMAT, "version": VERSION, **fields}))
    yield f"{compact_json(header)[:-1]},{OPENING}\n"
    count, yielder = 0, Yielder()
    async for record in _clean(snapshot, key, cleaning, back):
        line = f"{',' if count else ''}{await beside(record, partial(compact_json, record))}\n"
        yield line
        count += 1
        await yielder.after(len(line))
    # Names may be redacted, too; even then none may repeat one of the first line.
    end = {k: v for k, v in cleaning.header(back.trailer()).items() if k not in header}
    counts = {"count": count, "redacted": before + cleaning.count}
    yield f"],{compact_json(counts | end)[1:]}\n"


async def _clean(
    snapshot: Snapshot, key: int, cleaning: Cleaning, back: MemberRestorer
) -> AsyncIterator[Record]:
    """Yield the redacted records; the chunks of one answer are redacted together."""
    labels = _Labels()
    waiting: list[Record] = []
    async for original in records(snapshot, key):
        record = back.record(labels.record(original))
        if waiting and (record["type"] != "chunk" or record["event"] != waiting[0]["event"]):
            for chunk in await beside(waiting, partial(cleaning.chunks, waiting)):
                yield chunk
            waiting = []
        if record["type"] == "chunk":
            waiting.append(record)
        else:
            yield await beside(record, partial(cleaning.record, record))


def _clean_bytes(event: Any, clean: Any, redactor: Redactor) -> None:
    """Put redacted bytes into a redacted event: a mark inside base64 would make it invalid."""
    for part, clean_part in zip(_parts(event), _parts(clean), strict=True):
        _clean_part(part, clean_part, redactor)


def _parts(event: Any) -> Sequence[Any]:
    return (event.get("content") or {}).get("parts") or ()


def _clean_part(part: Any, clean: Any, redactor: Redactor) -> None:
    data = part.get("inlineData")
    if isinstance(data, dict) and isinstance(data.get("data"), str):
        clean["inlineData"]["data"] = redactor.base64(data["data"])
    if isinstance(part.get("thoughtSignature"), str):
        clean["thoughtSignature"] = redactor.base64(part["thoughtSignature"])
    response = part.get("functionResponse")
    if isinstance(response, dict):
        inner = response.get("parts") or (), clean["functionResponse"].get("parts") or ()
        for each, clean_each in zip(*inner, strict=True):
            _clean_part(each, clean_each, redactor)


async def values_of(bundle: AsyncIterator[str]) -> AsyncIterator[dict[str, Any]]:
    """Yield the header and then the records of a bundle's `lines`."""
    header = await anext(bundle)
    yield json.loads(header.rstrip().removesuffix(f",{OPENING}") + "}")
    async for line in bundle:
        if line.startswith("]"):
            return
        yield json.loads(line.lstrip(","))


def compact_json(value: Any) -> str:
    """Return compact JSON; lone surrogates, which UTF-8 can't encode, are escaped."""
    text = encode(value, _PLAIN)
    try:
        text.encode()
    except UnicodeEncodeError:
        return encode(value, _ASCII)
    return text


def relabel(event: Any, number_of: Callable[[int], int | None]) -> None:
    """Renumber the edits in the marks of an event, or of another held payload; unknown ones get no
    number."""
    metadata = event.get("customMetadata") if isinstance(event, dict) else None
    marks = metadata.get(EDITED) if isinstance(metadata, dict) else None
    for mark in marks if isinstance(marks, list) else ():
        if isinstance(mark, dict) and isinstance(mark.get("edit"), int):
            mark["edit"] = number_of(mark["edit"])


def rename_pieces(content: Any, name_of: Callable[[str], str]) -> Any:
    """Return a model request with its pieces renamed."""
    if not isinstance(content, dict) or not any(True for _ in names_in(content)):
        return content
    copy = dict(content)
    for member in ("system", "tools", "config", "contents"):
        value = copy.get(member)
        if isinstance(value, str):
            copy[member] = name_of(value)
        elif isinstance(value, list):
            copy[member] = [name_of(each) if isinstance(each, str) else each for each in value]
    return copy


def place_of(record: Record) -> str:
    """Return the place of a record in its session, for display."""
    kind = record["type"]
    if record.get("number") and kind in {"event", "note"}:
        return f"{'' if kind == 'event' else 'note on '}event #{record['number']}"
    if kind in {"write", "start"}:
        return "state"
    if kind == "artifact":
        return f"artifact {record['name']}"
    if kind in {"span", "piece"}:
        return "model and tool input"
    return _PLACES.get(kind, str(kind))


_PLACES: Final = {
    "session": "the session's own data",
    "note": "note on the session",
    "chunk": "streamed chunks",
    "run": "a run",
    "output": "output",
    "edit": "edits",
    "touch": "uncommitted state",
}
