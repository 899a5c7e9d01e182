"""Checks a bundle as a whole: order, unique names, and references that resolve.

A fork contains events and spans of its parent, but not the runs that made them. So references to
runs that aren't in the file are allowed only up to the event where it was forked.
"""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from devui.debugger.bundles import schema
from devui.debugger.bundles.schema import EVENT


class BadBundle(ValueError):
    """The file isn't a bundle that this version can read; the message says where and why."""


def valid(adapter: TypeAdapter[Any], place: str, value: Any) -> Any:
    """Validate a value, and return the adapter's model of it. Raises BadBundle."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise BadBundle(f"{place}: {where or 'the record'}: {first['msg']}") from None
    except RecursionError:
        raise BadBundle(f"{place}: nested too deeply") from None


@dataclass(slots=True)
class Checks:
    """The checks across records."""

    count: int = 0
    events: int = 0
    edits: int = 0
    started: bool = False
    referrer: str = ""
    """The place that refers to event `highest_reference`, which may turn out not to exist."""
    names: set[tuple[object, ...]] = field(default_factory=set)
    highest_reference: int = 0
    """The highest event number that is referred to."""
    forked: int | None = None
    """The number of the last event that a fork copied from its parent; None if it isn't a fork."""
    inherited: set[str] = field(default_factory=set)
    """The runs of the events that a fork copied."""
    runless: dict[str, str] = field(default_factory=dict)
    """Runs that are referred to before their record, with the place of the first reference."""

    def header(self, place: str, header: schema.Header) -> None:
        """Check the first line."""
        self.forked = header.forked[0].number if header.forked else None
        for lineage in (*header.forked[:1], *header.forks):
            self._refers(place, lineage.number)

    def take(self, place: str, record: Any) -> None:
        """Check the next record. Raises BadBundle."""
        self.count += 1
        step = _STEPS.get(type(record))
        if step is not None:
            step(self, place, record)

    def start(self, place: str, _: schema.Start) -> None:
        """Check that there is only one start record."""
        self._once(place, "start")
        self.started = True

    def edit(self, place: str, record: schema.Edit) -> None:
        """Check that edits are numbered from 1."""
        self.edits += 1
        self._in_order(place, "edit", record.edit, self.edits)
        self._from_run(place, record.run, inherited=self.forked is not None)

    def dropped(self, place: str, record: schema.DroppedEdit) -> None:
        """Check that the event was dropped by an earlier edit, which dropped no other."""
        self._once(place, "dropped", record.edit)
        if not 1 <= record.edit <= self.edits:
            raise BadBundle(f"{place}: edit {record.edit} doesn't exist")

    def chunk(self, place: str, record: schema.Chunk) -> None:
        """Check that chunks come before all events, which are stored with their chunk counts."""
        if self.events:
            raise BadBundle(f"{place}: chunks come before the events")
        self._from_run(place, record.run, inherited=self.forked is not None)

    def write(self, place: str, record: schema.Write) -> None:
        """Check that the session's own state is changed only by its start and its events."""
        if record.scope == "session":
            raise BadBundle(
                f"{place}: session state can only be written by the start record and events"
            )

    def run(self, place: str, record: schema.Run) -> None:
        """Check that each run has one record, which comes before its spans."""
        self._once(place, "run", record.run)
        if ("spans", record.run) in self.names:
            raise BadBundle(f"{place}: run {record.run} comes after its spans")
        self.runless.pop(record.run, None)

    def piece(self, place: str, record: schema.PieceOf) -> None:
        """Check that each piece has one record."""
        self._once(place, "piece", record.name)

    def span(self, place: str, record: schema.Span) -> None:
        """Check that a span comes after its run, and after its parent."""
        self._once(place, "span", record.run, record.number)
        self._refers(place, record.event)
        is_before_fork = record.event is None and record.run in self.inherited
        if not (is_before_fork or self._is_inherited(record.event)):
            self._of_run(place, record.run)
        parent, whole = record.parent, ("run", record.run) in self.names
        if parent == record.number or (
            parent is not None and whole and ("span", record.run, parent) not in self.names
        ):
            raise BadBundle(f"{place}: span {parent} of run {record.run} is missing before it")
        self.names.add(("spans", record.run))

    def note(self, place: str, record: schema.Note) -> None:
        """Check that an event has one note at most; `finish` checks that the event exists."""
        self._once(place, "note", record.number)
        self._refers(place, record.number)

    def finish(self) -> None:
        """Check what can only be known at the end. Raises BadBundle."""
        if not self.started:
            raise BadBundle("the start record is missing")
        if self.highest_reference > self.events:
            raise BadBundle(
                f"{self.referrer}: there is no event #{self.highest_reference}: there are"
                f" {self.events}"
            )
        for run, place in self.runless.items():
            raise BadBundle(f"{place}: the record of run {run} is missing")

    def event(self, place: str, record: schema.Event) -> None:
        """Check that events are numbered from 1 and have unique ids."""
        if not self.started:
            raise BadBundle(f"{place}: an event before the start record")
        self.events += 1
        self._in_order(place, "event", record.number, self.events)
        is_inherited = self._is_inherited(record.number)
        self._from_run(place, record.run, inherited=is_inherited)
        if is_inherited and record.run is not None:
            self.inherited.add(record.run)
        event = valid(EVENT, place, record.event)
        if event.id is None or "timestamp" not in record.event:
            raise BadBundle(f"{place}: an event needs an id and a timestamp")
        self._once(place, "event", event.id)
        temporary = next((k for k in event.actions.state_delta if k.startswith("temp:")), None)
        if temporary is not None:
            raise BadBundle(
                f"{place}: the state key {temporary!r} is temporary and can't be stored"
            )

    def artifact(self, place: str, record: schema.Artifact) -> None:
        """Check that an artifact has content, and that each version occurs once."""
        self._once(place, "artifact", record.name, record.version)
        if (record.text is None) == (record.data is None):
            raise BadBundle(f"{place}: an artifact needs either text or data")
        try:
            base64.b64decode(record.data or "", validate=True)
        except (binascii.Error, ValueError):
            raise BadBundle(f"{place}: the artifact's data isn't valid base64") from None

    def output(self, place: str, record: schema.Output) -> None:
        """Check that the output belongs to an earlier run."""
        self._of_run(place, record.run)
        for stream, text, at in record.lines:
            if not (isinstance(stream, str) and isinstance(text, str) and isinstance(at, float)):
                raise BadBundle(f"{place}: a line needs a stream, a text, and a time")

    def touch(self, place: str, record: schema.Touch) -> None:
        """Check that the touch belongs to an earlier run and is unique."""
        self._of_run(place, record.run)
        self._once(place, "touch", record.run, record.number)

    def _of_run(self, place: str, run: str) -> None:
        if ("run", run) not in self.names:
            raise BadBundle(f"{place}: run {run} wasn't recorded before")

    def _from_run(self, place: str, run: str | None, *, inherited: bool) -> None:
        if run is not None and not inherited and ("run", run) not in self.names:
            self.runless.setdefault(run, place)

    def _is_inherited(self, event: int | None) -> bool:
        """Whether the event was copied from the parent of a fork."""
        return event is not None and event <= (self.forked or 0)

    def _refers(self, place: str, number: int | None) -> None:
        if number is not None and number > self.highest_reference:
            self.highest_reference, self.referrer = number, place

    def _once(self, place: str, *name: object) -> None:
        if name in self.names:
            label = " ".join(str(each) for each in name)
            raise BadBundle(f"{place}: duplicate {label}")
        self.names.add(name)

    def _in_order(self, place: str, what: str, number: int, expected: int) -> None:
        if number != expected:
            raise BadBundle(f"{place}: expected {what} {expected}, found {what} {number}")


_STEPS: Final[dict[type, Callable[[Checks, str, Any], None]]] = {
    schema.Start: Checks.start,
    schema.Edit: Checks.edit,
    schema.DroppedEdit: Checks.dropped,
    schema.Chunk: Checks.chunk,
    schema.Write: Checks.write,
    schema.Artifact: Checks.artifact,
    schema.Event: Checks.event,
    schema.Run: Checks.run,
    schema.Output: Checks.output,
    schema.Touch: Checks.touch,
    schema.PieceOf: Checks.piece,
    schema.Span: Checks.span,
    schema.Note: Checks.note,
}
