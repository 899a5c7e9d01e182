"""What bundles say in members that this devui does not know (R27, the quarantined `extra`).

It is set aside unread while a file is checked, kept with the origin of the imported session, and
put back where it stood when that session is exported; nothing else looks at it. It stands at the
header, at one of its ancestors or forks, at the end, or at a record: the so many-th of its type, a
note by its number. A record has to say what it said then: so what stood at a note that was changed
is left out, and never gets to another one.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from devui.debugger.bundles import schema
from devui.store.errors import BadValue
from devui.store.runs.spans import Record
from devui.store.values import json_text

LARGEST: Final = 1 << 20
"""Bytes of JSON that all of one file may have together, with the names of their places."""
_RECORDS: Final = "records"
_HEADER: Final = frozenset({*schema.Header.model_fields, _RECORDS})
_TRAILER: Final = frozenset({*schema.Trailer.model_fields, _RECORDS})

Members = dict[str, Any]
"""Of one object, by their names, in their order."""


class Unkept(ValueError):
    """What is not known cannot be set aside: why."""


class SetAside:
    """What is taken out of one file, part by part in their order. Its methods raise Unkept."""

    def __init__(self) -> None:
        self.members = 0
        self._places: dict[str, tuple[str, Members]] = {}
        self._numbers = _Numbers()
        self._size = 0

    def header(self, value: Members, header: schema.Header) -> None:
        """The first line, with where the session was forked."""
        self._keep("header", _unknown(value, header, twice=_TRAILER))
        for name in ("forked", "forks"):
            for n, (raw, model) in enumerate(zip(value[name], getattr(header, name), strict=True)):
                self._keep(f"{name} {n}", _unknown(raw, model))

    def record(self, value: Members, record: Any) -> None:
        """The next record."""
        number = record.number if record.type == "note" else None
        place = self._numbers.next(record.type, number)
        if members := _unknown(value, record):
            fields = {name: getattr(record, name) for name in record.model_fields_set}
            self._keep(place, members, _print(fields))

    def trailer(self, value: Members, trailer: schema.Trailer) -> None:
        """The last line; it and the first are one object."""
        _, first = self._places.get("header", ("", {}))
        self._keep("end", _unknown(value, trailer, twice=_HEADER | first.keys()))

    def content(self) -> Members:
        """All of it, for `PutBack`; {} if there is none."""
        return {"members": self.members, "places": self._places} if self.members else {}

    def _keep(self, place: str, members: Members, note: str = "") -> None:
        if not members:
            return
        try:
            text = json_text([place, note, members], "an unknown member")
        except BadValue as error:
            raise Unkept(str(error)) from None
        self._size += len(text.encode())
        if self._size > LARGEST:
            raise Unkept(f"unknown members are larger than {LARGEST:,} bytes in total")
        self.members += len(members)
        self._places[place] = (note, members)


class PutBack:
    """Puts what was set aside where it stood, once through the parts of a session in order."""

    def __init__(self, content: Members) -> None:
        self._places: Mapping[str, tuple[str, Members]] = content.get("places", {})
        self._numbers = _Numbers()

    def header(self, header: Members) -> Members:
        """The first line, with what stood there behind what is known."""
        lineage = {
            name: [self._with(each, f"{name} {n}") for n, each in enumerate(header[name])]
            for name in ("forked", "forks")
        }
        return self._with(header | lineage, "header")

    def record(self, record: Record) -> Record:
        """The next record, as a file has it; secrets are still in it."""
        if not self._places:
            return record
        place = self._numbers.next(record["type"], record.get("number"))
        if place not in self._places or self._places[place][0] != _print(record):
            return record
        return self._with(record, place)

    def trailer(self) -> Members:
        """What stood in the last line."""
        return self._with({}, "end")

    def _with(self, fields: Members, place: str) -> Members:
        _, members = self._places.get(place, ("", {}))
        return {**fields, **{name: members[name] for name in members if name not in fields}}


class _Numbers:
    """Names the places of records."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def next(self, kind: str, number: int | None) -> str:
        """The place of the next record: those in front of a note may come and go."""
        if kind == "note":
            return f"{kind} {number}"
        self._counts[kind] += 1
        return f"{kind} {self._counts[kind]}"


def _unknown(value: Members, model: Any, *, twice: Iterable[str] = ()) -> Members:
    """What the model has not taken of an object; none of it may be named as in `twice`."""
    if len(value) == len(model.model_fields_set):
        return {}
    members = {name: value[name] for name in value if name not in model.model_fields_set}
    if not members.keys().isdisjoint(twice):
        raise Unkept("an object has a duplicate key")
    return members


def _print(record: Members) -> str:
    """Tells what a record says, in a few characters."""
    return sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:32]
