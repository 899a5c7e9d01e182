"""Reads bundles as data: all is checked before anything is done with it, nothing is run (R27).

A file is read twice: once to be checked as a whole, and then record by record into the journal.
What is wrong is told with its line.
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Final

from pydantic import TypeAdapter, ValidationError

from devui.debugger.bundles import schema
from devui.debugger.bundles.extras import Members, SetAside, Unkept
from devui.debugger.bundles.schema import EVENT, FORMAT, HEADER, RECORD, TRAILER, VERSION
from devui.debugger.bundles.writing import OPENING

LONGEST_LINE: Final = 64_000_000
"""Bytes of a line; the largest is an artifact."""
_WHOLE: Final = 32_000_000
"""Bytes of a file that somebody has formatted anew, which has to be read as a whole."""
_DEEPEST: Final = 260
"""Levels: those of the deepest event that a worker can send, and the record around it."""


class BadBundle(ValueError):
    """The file is no bundle that this version can read: which line, what, what to do."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A file that was checked."""

    header: schema.Header
    trailer: schema.Trailer
    events: int
    extra: Members
    """What it says in members that are not known, as `extras.PutBack` takes it."""


def check(file: IO[bytes]) -> Bundle:
    """Read a whole file and make sure that it is a bundle. Raises BadBundle."""
    header: schema.Header | None = None
    trailer: schema.Trailer | None = None
    checks, aside = _Checks(), SetAside()
    for place, value in _values(file):
        if header is None:
            header = _header(place, value)
            _keep(place, aside.header, value, header)
        elif trailer is not None:
            raise BadBundle(f"{place}: there is more after the end")
        elif isinstance(value, _End):
            trailer = _valid(TRAILER, place, value.value)
            _keep(place, aside.trailer, value.value, trailer)
            if trailer.count != checks.count:
                raise BadBundle(
                    f"{place}: it says that there are {trailer.count} records, there are"
                    f" {checks.count}: a part of the file is missing"
                )
        else:
            record = _valid(RECORD, place, value)
            checks.take(place, record)
            _keep(place, aside.record, value, record)
    if header is None or trailer is None:
        raise BadBundle("the file ends in the middle: it was not written or copied to its end")
    checks.finish()
    return Bundle(header, trailer, checks.events, aside.kept())


def records(file: IO[bytes]) -> Iterator[Any]:
    """The records of a file that was checked, in order."""
    file.seek(0)
    for n, (place, value) in enumerate(_values(file)):
        if n and not isinstance(value, _End):
            yield _valid(RECORD, place, value)


@dataclass(frozen=True, slots=True)
class _End:
    """What stands behind the records."""

    value: dict[str, Any]


def _values(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Header, records and end, each with its place."""
    file.seek(0)
    first = _line(file, 1)
    if not first.strip():
        raise BadBundle("the file is empty")
    opening = first.rstrip().decode("utf-8", "replace")
    if not opening.endswith(OPENING):
        yield from _formatted(file)
        return
    yield "line 1", _parsed("line 1", opening[: -len(OPENING)].rstrip().removesuffix(",") + "}")
    number = 1
    while line := _line(file, number := number + 1):
        place = f"line {number}"
        text = _text(place, line).strip()
        if text.startswith("]"):
            yield place, _End(_parsed(place, "{" + text[1:].lstrip(", ")))
        elif text:
            yield place, _parsed(place, text.strip(","))


def _formatted(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """The same of a file with other line ends than ours."""
    file.seek(0)
    data = file.read(_WHOLE + 1)
    if len(data) > _WHOLE:
        raise BadBundle(
            "line 1: this is no bundle as devui writes it, with one record on each line, and it is"
            " too large to be read in another form"
        )
    value = _parsed("the file", _text("the file", data))
    if not isinstance(value, dict) or not isinstance(value.get("records"), list):
        raise BadBundle(f'the file is no bundle: it has no "format": "{FORMAT}" and no records')
    names = list(value)
    behind = set(names[names.index("records") :]) - schema.Header.model_fields.keys()
    found = value.pop("records")
    last = behind | schema.Trailer.model_fields.keys()
    end = {name: value.pop(name) for name in names if name in last and name in value}
    yield "the beginning", value
    for number, record in enumerate(found, 1):
        yield f"record {number}", record
    yield "the end", _End(end)


def _line(file: IO[bytes], number: int) -> bytes:
    line = file.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise BadBundle(f"line {number}: longer than {LONGEST_LINE:,} bytes")
    return line


def _text(place: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadBundle(f"{place}: this is not UTF-8 text, at byte {error.start}") from None


def _parsed(place: str, text: str) -> Any:
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise BadBundle(f"{place}: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadBundle(f"{place}: this is not JSON: {error.msg}, column {error.colno}") from None
    except ValueError as error:
        raise BadBundle(f"{place}: {error}") from None
    if _depth(value) > _DEEPEST:
        raise BadBundle(f"{place}: nested deeper than {_DEEPEST} levels")
    return value


def _depth(value: Any) -> int:
    deepest, level = 0, [value]
    while level:
        deepest += 1
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                below += each.values()
            elif isinstance(each, list):
                below += each
        level = below
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object has the same key twice")
    return made


def _constant(name: str) -> float:
    raise ValueError(f"{name} is no number that JSON knows")


def _float(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
)


def _header(place: str, value: Any) -> schema.Header:
    told = value if isinstance(value, dict) else {}
    if told.get("format") != FORMAT:
        raise BadBundle(f'{place}: this is no session of devui: it has no "format": "{FORMAT}"')
    version = told.get("version")
    if isinstance(version, int) and version > VERSION:
        raise BadBundle(
            f"{place}: the bundle has version {version}, this devui reads up to {VERSION}:"
            " update devui"
        )
    if version != VERSION:
        raise BadBundle(f"{place}: the bundle has the version {version!r}, not {VERSION}")
    header: schema.Header = _valid(HEADER, place, value)
    return header


def _valid(adapter: TypeAdapter[Any], place: str, value: Any) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise BadBundle(f"{place}: {where or 'the record'}: {first['msg']}") from None
    except RecursionError:
        raise BadBundle(f"{place}: nested too deeply") from None


def _keep(place: str, keep: Callable[[Members, Any], None], value: Members, known: Any) -> None:
    """Set aside what is not known."""
    try:
        keep(value, known)
    except Unkept as error:
        raise BadBundle(f"{place}: {error}") from None


@dataclass(slots=True)
class _Checks:
    """What has to hold between the records."""

    count: int = 0
    events: int = 0
    edits: int = 0
    started: bool = False
    late: str = ""
    """The first thing that is told about events and is not known until all are there."""
    seen: set[tuple[object, ...]] = field(default_factory=set)
    noted: int = 0
    """The highest number of an event that something refers to."""

    def take(self, place: str, record: Any) -> None:
        """Look at the next record. Raises BadBundle."""
        self.count += 1
        step = _STEPS.get(type(record))
        if step is not None:
            step(self, place, record)

    def start(self, place: str, _: schema.Start) -> None:
        """The beginning comes once."""
        self._once(place, "start")
        self.started = True

    def edit(self, place: str, record: schema.Edit) -> None:
        """Edits are numbered from 1."""
        self.edits += 1
        self._in_order(place, "edit", record.edit, self.edits)

    def dropped(self, place: str, record: schema.Dropped) -> None:
        """An event is dropped by an edit that was told."""
        self._once(place, "dropped", record.edit)
        if not 1 <= record.edit <= self.edits:
            raise BadBundle(f"{place}: there is no edit {record.edit}")

    def chunk(self, place: str, _: schema.Chunk) -> None:
        """Events know how many chunks they have."""
        if self.events:
            raise BadBundle(f"{place}: chunks come before the events")

    def run(self, place: str, record: schema.Run) -> None:
        """Each run is told once."""
        self._once(place, "run", record.run)

    def piece(self, place: str, record: schema.PieceOf) -> None:
        """Each piece is told once."""
        self._once(place, "piece", record.name)

    def span(self, place: str, record: schema.Span) -> None:
        """A span belongs to an event that exists."""
        self._once(place, "span", record.run, record.number)
        self._refers(place, record.event)

    def note(self, place: str, record: schema.Note) -> None:
        """A note is on an event that exists."""
        self._once(place, "note", record.number)
        self._refers(place, record.number)

    def finish(self) -> None:
        """Look at the whole. Raises BadBundle."""
        if not self.started:
            raise BadBundle("there is no record of the session's start")
        if self.noted > self.events:
            raise BadBundle(
                f"{self.late}: there is no event #{self.noted}: there are {self.events}"
            )

    def event(self, place: str, record: schema.Event) -> None:
        """Events are numbered from 1 and have ids of their own."""
        if not self.started:
            raise BadBundle(f"{place}: an event before the session's start")
        self.events += 1
        self._in_order(place, "event", record.number, self.events)
        event = _valid(EVENT, place, record.event)
        if event.id is None or "timestamp" not in record.event:
            raise BadBundle(f"{place}: an event has an id and a timestamp")
        self._once(place, "event", event.id)
        temporary = next((k for k in event.actions.state_delta if k.startswith("temp:")), None)
        if temporary is not None:
            raise BadBundle(f"{place}: the state key {temporary!r} is temporary and never stored")

    def artifact(self, place: str, record: schema.Artifact) -> None:
        """A file has a content, and each version is there once."""
        self._once(place, "artifact", record.name, record.version)
        if (record.text is None) == (record.data is None):
            raise BadBundle(f"{place}: an artifact has either a text or data")
        try:
            base64.b64decode(record.data or "", validate=True)
        except (binascii.Error, ValueError):
            raise BadBundle(f"{place}: the artifact's data is not base64") from None

    def output(self, place: str, record: schema.Output) -> None:
        """What was printed belongs to a run that was told."""
        self._of_run(place, record.run)
        for stream, text, at in record.lines:
            if not (isinstance(stream, str) and isinstance(text, str) and isinstance(at, float)):
                raise BadBundle(f"{place}: a line is its stream, its text and its time")

    def touch(self, place: str, record: schema.Touch) -> None:
        """So does what it did to the state."""
        self._of_run(place, record.run)
        self._once(place, "touch", record.run, record.number)

    def _of_run(self, place: str, run: str) -> None:
        if ("run", run) not in self.seen:
            raise BadBundle(f"{place}: nothing was told of the run {run} before")

    def _refers(self, place: str, number: int | None) -> None:
        if number is not None and number > self.noted:
            self.noted, self.late = number, place

    def _once(self, place: str, *name: object) -> None:
        if name in self.seen:
            told = " ".join(str(each) for each in name)
            raise BadBundle(f"{place}: the {told} comes twice")
        self.seen.add(name)

    def _in_order(self, place: str, what: str, number: int, expected: int) -> None:
        if number != expected:
            raise BadBundle(f"{place}: {what} {number} comes where {what} {expected} should")


_STEPS: Final[dict[type, Callable[[_Checks, str, Any], None]]] = {
    schema.Start: _Checks.start,
    schema.Edit: _Checks.edit,
    schema.Dropped: _Checks.dropped,
    schema.Chunk: _Checks.chunk,
    schema.Artifact: _Checks.artifact,
    schema.Event: _Checks.event,
    schema.Run: _Checks.run,
    schema.Output: _Checks.output,
    schema.Touch: _Checks.touch,
    schema.PieceOf: _Checks.piece,
    schema.Span: _Checks.span,
    schema.Note: _Checks.note,
}
