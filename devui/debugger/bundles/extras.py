"""Preserves the members of bundles that this devui doesn't know (R27, the quarantined `extra`).

They are set aside unread while a file is checked, kept with the origin of the imported session, and
put back in their place when that session is exported; nothing else uses them. Their place is the
header, one of its ancestors or forks, the end, or a record: the nth of its type, or a note by its
number. They are put back only if that record is unchanged, so that the members of a note that was
edited are dropped and never get attached to another one.
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
"""The maximum size of a file's unknown members, with the names of their places, in bytes."""
_RECORDS: Final = "records"
_HEADER: Final = frozenset({*schema.Header.model_fields, _RECORDS})
_TRAILER: Final = frozenset({*schema.Trailer.model_fields, _RECORDS})

Members = dict[str, Any]
"""The members of an object by name, in order."""


class UnknownMembersError(ValueError):
    """Unknown members can't be set aside; the message says why."""


class UnknownMembers:
    """The unknown members of a file, added part by part in order.

    The methods raise UnknownMembersError.
    """

    def __init__(self) -> None:
        self.members = 0
        self._places: dict[str, tuple[str, Members]] = {}
        self._numbers = _Numbers()
        self._size = 0

    def header(self, value: Members, header: schema.Header) -> None:
        """Add unknown members of the first line, and of the ancestors and forks in it."""
        self._keep("header", _unknown(value, header, twice=_TRAILER))
        for name in ("forked", "forks"):
            for n, (raw, model) in enumerate(zip(value[name], getattr(header, name), strict=True)):
                self._keep(f"{name} {n}", _unknown(raw, model))

    def record(self, value: Members, record: Any) -> None:
        """Add unknown members of the next record."""
        number = record.number if record.type == "note" else None
        place = self._numbers.next(record.type, number)
        if members := _unknown(value, record):
            fields = {name: getattr(record, name) for name in record.model_fields_set}
            self._keep(place, members, _print(fields))

    def trailer(self, value: Members, trailer: schema.Trailer) -> None:
        """Add unknown members of the last line, which forms one object with the first."""
        _, first = self._places.get("header", ("", {}))
        self._keep("end", _unknown(value, trailer, twice=_HEADER | first.keys()))

    def content(self) -> Members:
        """Return everything that was added, for `MemberRestorer`; {} if there is nothing."""
        return {"members": self.members, "places": self._places} if self.members else {}

    def _keep(self, place: str, members: Members, note: str = "") -> None:
        if not members:
            return
        try:
            text = json_text([place, note, members], "an unknown member")
        except BadValue as error:
            raise UnknownMembersError(str(error)) from None
        self._size += len(text.encode())
        if self._size > LARGEST:
            raise UnknownMembersError(f"unknown members are larger than {LARGEST:,} bytes in total")
        self.members += len(members)
        self._places[place] = (note, members)


class MemberRestorer:
    """Puts unknown members back in their places, in one pass through the parts of a session."""

    def __init__(self, content: Members) -> None:
        self._places: Mapping[str, tuple[str, Members]] = content.get("places", {})
        self._numbers = _Numbers()

    def header(self, header: Members) -> Members:
        """Return the first line with its unknown members after the known ones."""
        lineage = {
            name: [self._with(each, f"{name} {n}") for n, each in enumerate(header[name])]
            for name in ("forked", "forks")
        }
        return self._with(header | lineage, "header")

    def record(self, record: Record) -> Record:
        """Return the next record, not redacted yet, with its unknown members."""
        if not self._places:
            return record
        place = self._numbers.next(record["type"], record.get("number"))
        if place not in self._places or self._places[place][0] != _print(record):
            return record
        return self._with(record, place)

    def trailer(self) -> Members:
        """Return the unknown members of the last line."""
        return self._with({}, "end")

    def _with(self, fields: Members, place: str) -> Members:
        _, members = self._places.get(place, ("", {}))
        return {**fields, **{name: members[name] for name in members if name not in fields}}


class _Numbers:
    """Names the places of records."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def next(self, kind: str, number: int | None) -> str:
        """Return the place of the next record; notes aren't counted, since they come and go."""
        if kind == "note":
            return f"{kind} {number}"
        self._counts[kind] += 1
        return f"{kind} {self._counts[kind]}"


def _unknown(value: Members, model: Any, *, twice: Iterable[str] = ()) -> Members:
    """Return the members that the model ignored.

    Raises UnknownMembersError if one has a name in `twice`.
    """
    if len(value) == len(model.model_fields_set):
        return {}
    members = {name: value[name] for name in value if name not in model.model_fields_set}
    if not members.keys().isdisjoint(twice):
        raise UnknownMembersError("an object has a duplicate key")
    return members


def _print(record: Members) -> str:
    """Return a short fingerprint of a record."""
    return sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:32]
