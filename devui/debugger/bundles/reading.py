"""Reads bundles as data: everything is checked before it is used, and nothing is run (R27).

A file is read twice: once to check it as a whole, and then to store it record by record. Errors
name the line.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from devui.debugger.background.jobs import Progress
from devui.debugger.bundles import schema
from devui.debugger.bundles.checks import BadBundle, Checks, valid
from devui.debugger.bundles.extras import Members, UnknownMembers, UnknownMembersError
from devui.debugger.bundles.schema import FORMAT, HEADER, RECORD, TRAILER, VERSION
from devui.debugger.bundles.writing import OPENING
from devui.debugger.events.checked import refuse_constant

LONGEST_LINE: Final = 64_000_000
"""The longest line, in bytes; the longest ones are artifacts."""
_WHOLE: Final = 32_000_000
"""The largest reformatted file, in bytes; such a file has to be read as a whole."""
_DEEPEST: Final = 260
"""The deepest nesting: the deepest event that a worker can send, and the record around it."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The outline of a checked file."""

    header: schema.Header
    trailer: schema.Trailer
    events: int
    extra: Members
    """Its unknown members, in the form that `extras.MemberRestorer` takes."""


def check(file: IO[bytes], progress: Progress) -> Bundle:
    """Read a whole file and check that it is a valid bundle; its bytes count as progress.

    Raises BadBundle, JobStopped.
    """
    header: schema.Header | None = None
    trailer: schema.Trailer | None = None
    checks, unknown = Checks(), UnknownMembers()
    for place, value in _values(file, progress, _parse):
        if header is None:
            header = _header(place, value)
            checks.header(place, header)
            _keep(place, unknown.header, value, header)
        elif trailer is not None:
            raise BadBundle(f"{place}: there is data after the end")
        elif isinstance(value, _End):
            trailer = valid(TRAILER, place, value.value)
            _keep(place, unknown.trailer, value.value, trailer)
            if trailer.count != checks.count:
                raise BadBundle(
                    f"{place}: it declares {trailer.count} records, but there are"
                    f" {checks.count}: part of the file is missing"
                )
        else:
            record = valid(RECORD, place, value)
            checks.take(place, record)
            _keep(place, unknown.record, value, record)
    if header is None or trailer is None:
        raise BadBundle("the file is truncated: it wasn't completely written or copied")
    checks.finish()
    return Bundle(header, trailer, checks.events, unknown.content())


def outline(file: IO[bytes]) -> Bundle:
    """Read the beginning and end of a file that this process wrote, which needs no check."""
    file.seek(0)
    first = last = file.readline()
    for line in file:
        last = line
    opening = first.decode().rstrip()
    header = _header("line 1", json.loads(opening[: -len(OPENING)].removesuffix(",") + "}"))
    trailer = valid(TRAILER, "the end", json.loads("{" + last.decode().strip().lstrip("], ")))
    return Bundle(header, trailer, trailer.count, {})


def records(file: IO[bytes], progress: Progress, *, own: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield the records of a checked file, each with its place; the file's bytes count as progress.

    Set `own` for a file that this process wrote. Raises JobStopped.
    """
    file.seek(0)
    for n, (place, value) in enumerate(
        _values(file, progress, _parse_unchecked if own else _parse)
    ):
        if n and not isinstance(value, _End):
            yield place, valid(RECORD, place, value)


@dataclass(frozen=True, slots=True)
class _End:
    """The members after the records."""

    value: dict[str, Any]


def _values(
    file: IO[bytes], progress: Progress, parse: Callable[[str, str], Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the header, the records and the end, each with its place."""
    file.seek(0)
    first = _line(file, 1)
    if not first.strip():
        raise BadBundle("the file is empty")
    if not first.rstrip().endswith(OPENING.encode()):
        yield from _values_of_whole(file)
        return
    opening = _text("line 1", first).rstrip()
    yield "line 1", parse("line 1", opening[: -len(OPENING)].rstrip().removesuffix(",") + "}")
    number = 1
    while line := _line(file, number := number + 1):
        progress.advance(len(line))
        place = f"line {number}"
        text = _text(place, line).strip()
        if text.startswith("]"):
            yield place, _End(parse(place, "{" + text[1:].lstrip(", ")))
        elif text:
            yield place, parse(place, text.strip(","))


def _values_of_whole(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the same from a file that doesn't have one record per line."""
    file.seek(0)
    data = file.read(_WHOLE + 1)
    if len(data) > _WHOLE:
        raise BadBundle(
            "line 1: this isn't a devui bundle with one record per line, and it is"
            " too large to read in another form"
        )
    value = _parse("the file", _text("the file", data))
    if not isinstance(value, dict) or not isinstance(value.get("records"), list):
        raise BadBundle(f'the file is not a bundle: it has no "format": "{FORMAT}" and no records')
    names = list(value)
    behind = set(names[names.index("records") :]) - schema.Header.model_fields.keys()
    records = value.pop("records")
    last = behind | schema.Trailer.model_fields.keys()
    end = {name: value.pop(name) for name in names if name in last and name in value}
    yield "the beginning", value
    for number, record in enumerate(records, 1):
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
        raise BadBundle(f"{place}: invalid UTF-8 at byte {error.start}") from None


def _parse_unchecked(place: str, text: str) -> Any:
    return json.loads(text)


def _parse(place: str, text: str) -> Any:
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise BadBundle(f"{place}: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadBundle(f"{place}: invalid JSON: {error.msg}, column {error.colno}") from None
    except ValueError as error:
        raise BadBundle(f"{place}: {error}") from None
    if _depth(value) > _DEEPEST:
        raise BadBundle(f"{place}: nested deeper than {_DEEPEST} levels")
    if "\\u" in text:
        _require_whole(place, value)
    return value


def _require_whole(place: str, value: Any) -> None:
    """Reject lone surrogates, which only come from escapes."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadBundle(
            f"{place}: the text contains the lone surrogate {error.object[error.start]!r}:"
            " replace it"
        ) from None


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
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has a duplicate key")
    return members


def _float(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=refuse_constant, parse_float=_float
)


def _header(place: str, value: Any) -> schema.Header:
    fields = value if isinstance(value, dict) else {}
    if fields.get("format") != FORMAT:
        raise BadBundle(f'{place}: not a devui session: it has no "format": "{FORMAT}"')
    version = fields.get("version")
    if isinstance(version, int) and version > VERSION:
        raise BadBundle(
            f"{place}: the bundle has version {version}, but this devui reads up to {VERSION}:"
            " update devui"
        )
    if version != VERSION:
        raise BadBundle(f"{place}: the bundle has the version {version!r}, not {VERSION}")
    header: schema.Header = valid(HEADER, place, value)
    return header


def _keep(place: str, keep: Callable[[Members, Any], None], value: Members, model: Any) -> None:
    """Set aside unknown members."""
    try:
        keep(value, model)
    except UnknownMembersError as error:
        raise BadBundle(f"{place}: {error}") from None
