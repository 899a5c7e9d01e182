"""Model requests as stored in spans: as the numbers of their pieces (decisions/0009).

A request repeats the previous one, and most of its pieces were stored one after another. Their
numbers are therefore stored as ranges, so that requests don't get larger as a conversation grows. A
piece that never arrived is stored by name instead, as all pieces are in old journals.
"""

import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from devui.store.errors import JournalDamaged
from devui.store.values import parse_json, printable
from devui.wire.spans import Prompt

_SINGLE = ("system", "tools", "config")
_LONGEST = 1_000_000
"""The maximum number of pieces in a range; no worker sends a request with that many."""

_PIECE = "INSERT INTO pieces (session, name, data) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_NUMBERS = """
    SELECT name, id FROM pieces
    WHERE session = ? AND name IN (SELECT value FROM json_each(?))
"""
_NAMES = """
    SELECT id, name FROM pieces
    WHERE id IN (SELECT value FROM json_each(?2)) AND session = ?1
"""

_COMPACT = json.JSONEncoder(separators=(",", ":"))

Fetch = Callable[..., Awaitable[list[Any]]]


@dataclass(frozen=True, slots=True)
class NewSpan:
    run: str
    number: int
    """Unique in the run, from 1."""
    parent: int | None
    """The number of the enclosing span."""
    type: str
    """`agent`, `model` or `tool`."""
    name: str
    agent: str
    branch: str | None
    call: str | None
    began: float
    sent: str | None
    """A tool's arguments, as JSON text."""
    prompt: Prompt | None = None
    """The request of a model call, without the content of its pieces."""


def add_pieces(
    connection: sqlite3.Connection, session: int, pieces: Mapping[str, str]
) -> dict[str, int]:
    """Store the pieces that the session doesn't have yet, and return their numbers by name."""
    numbers = {}
    for name, data in pieces.items():
        cursor = connection.execute(_PIECE, (session, name, printable(data)))
        if cursor.rowcount and cursor.lastrowid:
            numbers[name] = cursor.lastrowid
    return numbers


def numbers_of(
    connection: sqlite3.Connection,
    session: int,
    prompts: Iterable[Prompt],
    numbers: Mapping[str, int],
) -> dict[str, int]:
    """Return the numbers of the requests' pieces that `numbers` lacks, by name."""
    names = {name for each in prompts for name in (each.system, each.tools, each.config)}
    names.update(name for each in prompts for name in each.contents)
    if not (names := names - numbers.keys() - {None}):
        return {}
    return dict(connection.execute(_NUMBERS, (session, json.dumps([*names]))).fetchall())


def request_text(span: NewSpan, numbers: Mapping[str, int]) -> str | None:
    """Return the request of a model call as JSON text, without what its span already has."""
    if (prompt := span.prompt) is None:
        return None
    single = {"system": prompt.system, "tools": prompt.tools, "config": prompt.config}
    members: dict[str, Any] = {
        member: numbers.get(name, name) for member, name in single.items() if name is not None
    }
    members["contents"] = _ranges(numbers.get(name, name) for name in prompt.contents)
    if prompt.model != span.name:
        members["model"] = prompt.model
    if prompt.stream:
        members["stream"] = True
    return _COMPACT.encode(members)


def _ranges(places: Iterable[int | str]) -> list[list[int] | str]:
    ranges: list[list[int] | str] = []
    for place in places:
        last = ranges[-1] if ranges else ""
        if isinstance(place, str):
            ranges.append(place)
        elif isinstance(last, list) and last[1] + 1 == place:
            last[1] = place
        else:
            ranges.append([place, place])
    return ranges


class Requests:
    """Reads what the spans of one session were sent."""

    def __init__(self, fetch: Fetch, session: int) -> None:
        self._fetch = fetch
        self._session = session
        self._names: dict[int, str] = {}
        """The names of pieces, by number; a request shares most pieces with the previous one."""

    async def payload(self, name: str, sent: str | None, request: str | None) -> Any:
        """Return what the span with this name was sent, as parsed JSON.

        A model's request has `model`, `stream` and, as the names of pieces, `system`, `tools`,
        `config` and `contents`. Raises JournalDamaged.
        """
        if request is None:
            return None if sent is None else parse_json(sent)
        members: Any = parse_json(request)
        try:
            places = [*map(members.get, _SINGLE), *_places(members["contents"])]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise JournalDamaged(f"a stored request is none any more: {request[:200]!r}") from None
        unknown = {each for each in places if isinstance(each, int)} - self._names.keys()
        if unknown:
            self._names.update(await self._fetch(_NAMES, self._session, json.dumps([*unknown])))
        names = [self._name(each) if isinstance(each, int) else each for each in places]
        return {
            "model": members.get("model", name),
            "stream": members.get("stream", False),
            **dict(zip(_SINGLE, names, strict=False)),
            "contents": names[len(_SINGLE) :],
        }

    def _name(self, number: int) -> str:
        """Return the name of a piece; for a missing piece, a placeholder that no piece has."""
        return self._names.get(number, f"#{number}")


def _places(contents: Iterable[Any]) -> Iterator[Any]:
    """Yield the number or name of each piece."""
    for each in contents:
        if isinstance(each, str):
            yield each
            continue
        first, last = each
        if last - first > _LONGEST:
            raise ValueError("too many pieces")
        yield from range(first, last + 1)
