"""Puts the records of a bundle that was checked into the journal."""

import base64
import json
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from devui.debugger.bundles import schema
from devui.debugger.bundles.checks import BadBundle
from devui.debugger.bundles.reading import Bundle
from devui.debugger.bundles.writing import dumped, relabel, renamed
from devui.debugger.runs.attempts import Attempts
from devui.debugger.runs.commit import event_of
from devui.debugger.runs.lineage import Lineage
from devui.store.errors import BadValue
from devui.store.imports import Landing, NewImport
from devui.store.rows import NewEdit, NewTouch, NoteRow, OutputLine, RunRow
from devui.store.runs.requests import NewSpan
from devui.wire.events import Event
from devui.wire.pieces import piece_name
from devui.wire.spans import Prompt


@dataclass(frozen=True, slots=True)
class Landed:
    """What becomes of a bundle."""

    app: str | None = None
    """The app it goes to; its own if None."""
    keeps_id: bool = False
    """The session keeps the id that the bundle says, instead of a new one."""
    goes_on: bool = False
    """It is a session like any other, not one to be read and forked."""


AS_IT_IS: Final = Landed()


def new_import(bundle: Bundle, wish: Landed) -> NewImport:
    """The session that is made of a bundle."""
    header = bundle.header
    origin = {
        "app": header.app,
        "user": header.user,
        "id": header.id,
        "forked": [each.model_dump() for each in header.forked],
        "forks": [each.model_dump() for each in header.forks],
        "redacted": bundle.trailer.redacted,
        "extra": bundle.extra,
    }
    first = header.forked[0] if header.forked else None
    return NewImport(
        app=wish.app or header.app,
        id=header.id if wish.keeps_id else None,
        goes_on=wish.goes_on,
        user=header.user,
        title=header.title,
        created=header.created,
        updated=header.updated,
        data=json.dumps(origin),
        fork=None
        if first is None
        else (first.number, first.reason, first.note, first.invocation, first.created),
    )


class Lander:
    """One bundle on its way into the journal; made anew for each try."""

    def __init__(self, landing: Landing) -> None:
        self._landing = landing
        self._runs: dict[str, str] = {}
        self._edits: dict[int, int] = {}
        self._lineages: defaultdict[str | None, Lineage] = defaultdict(Lineage)
        self._attempts = Attempts()
        self._lines: dict[str, int] = {}
        self._pieces: dict[str, str] = {}
        """Names of pieces here, by those in the bundle."""
        self._piece_names: set[str] = set()

    def land(self, records: Iterable[tuple[str, Any]]) -> None:
        """Hand all records over, in order. Raises BadBundle with the place of one that the journal
        cannot keep."""
        for place, record in records:
            try:
                _STEPS[type(record)](self, record)
            except BadValue as error:
                raise BadBundle(f"{place}: {error}") from error

    def edit(self, record: schema.Edit) -> None:
        """A change by hand; events that follow refer to it."""
        fields = record.model_dump(exclude={"type", "edit"})
        fields |= {"run": self._run(record.run)}
        relabel(record.before, self._edits.get)
        relabel(record.after, self._edits.get)
        fields |= {"before": dumped(record.before), "after": dumped(record.after)}
        self._edits[record.edit] = self._landing.edit(NewEdit(**fields))

    def dropped(self, record: schema.Dropped) -> None:
        """Where an event was let fall."""
        self._landing.dropped(self._edits[record.edit])

    def chunk(self, record: schema.Chunk) -> None:
        """A partial event."""
        self._landing.chunk(record.event, self._optional(record.run), dumped(record.data))

    def write(self, record: schema.Write) -> None:
        """A write of shared state."""
        self._landing.write(record.scope, record.key, record.value)

    def start(self, record: schema.Start) -> None:
        """The beginning."""
        self._landing.start(record.state)

    def event(self, record: schema.Event) -> None:
        """An event; what the journal indexes of it is made anew."""
        relabel(record.event, self._edits.get)
        lineage = self._lineages[record.run]
        event = event_of(
            Event.of(record.event, dumped(record.event)),
            final=record.final,
            lineage=lineage,
            attempts=self._attempts,
        )
        with_pause = replace(event, paused=record.paused)
        self._landing.event(with_pause, self._optional(record.run))

    def artifact(self, record: schema.Artifact) -> None:
        """A file."""
        data = None if record.data is None else base64.b64decode(record.data)
        self._landing.artifact(
            record.name,
            record.version,
            mime=record.mime,
            metadata=record.metadata,
            created=record.created,
            content=record.text or "" if data is None else data,
        )

    def run(self, record: schema.Run) -> None:
        """A run that has ended."""
        row = RunRow(
            id=self._run(record.run),
            session=self._landing.key,
            invocation_id=record.invocation,
            status=record.status,
            error=_json(record.error),
            started=record.started,
            ended=record.ended,
            seq=0,
            message=_json(record.message),
            unfinished=_json(record.unfinished),
            closed=int(record.closed),
        )
        self._landing.run(row, _json(record.held), record.paused)

    def output(self, record: schema.Output) -> None:
        """Lines that a run printed."""
        run = self._run(record.run)
        first = self._lines.get(run, 1)
        lines = [OutputLine(str(stream), str(text), float(at)) for stream, text, at in record.lines]
        self._landing.output(run, first, lines)
        self._lines[run] = first + len(lines)

    def touch(self, record: schema.Touch) -> None:
        """What a run did to its state before a commit."""
        touch = NewTouch(record.number, record.event, record.flagged, dumped(record.data))
        self._landing.touched(self._run(record.run), touch)

    def piece(self, record: schema.PieceOf) -> None:
        """A piece of requests."""
        text = dumped(record.data)
        name = piece_name(text)
        # Two may say the same once their secrets are left out: they stay two, for the next export.
        if name not in self._piece_names:
            self._piece_names.add(name)
            self._pieces[record.name] = name
        self._landing.piece(self._pieces.get(record.name, record.name), text)

    def span(self, record: schema.Span) -> None:
        """What an agent, a model or a tool did."""
        run = self._run(record.run)
        sent = renamed(record.sent, lambda name: self._pieces.get(name, name))
        prompt = _prompt(sent) if record.kind == "model" else None
        span = NewSpan(
            run=run,
            number=record.number,
            parent=record.parent,
            type=record.kind,
            name=record.name,
            agent=record.agent,
            branch=record.branch,
            call=record.call,
            began=record.began,
            sent=None if prompt else _json(sent),
            prompt=prompt,
        )
        outcome = (record.seconds, record.first, record.error, _json(record.result))
        self._landing.span(span, record.event, (*outcome, _json(record.effects)))

    def note(self, record: schema.Note) -> None:
        """What somebody said."""
        fields = record.model_dump(exclude={"type"})
        self._landing.note(NoteRow(session=self._landing.key, **fields))

    def _run(self, label: str) -> str:
        """The run's id here: ids are never taken from a file."""
        return self._runs.setdefault(label, str(uuid.uuid4()))

    def _optional(self, label: str | None) -> str | None:
        return None if label is None else self._run(label)


_STEPS: Final[dict[type, Any]] = {
    schema.Edit: Lander.edit,
    schema.Dropped: Lander.dropped,
    schema.Chunk: Lander.chunk,
    schema.Write: Lander.write,
    schema.Start: Lander.start,
    schema.Event: Lander.event,
    schema.Artifact: Lander.artifact,
    schema.Run: Lander.run,
    schema.Output: Lander.output,
    schema.Touch: Lander.touch,
    schema.PieceOf: Lander.piece,
    schema.Span: Lander.span,
    schema.Note: Lander.note,
}


_REQUEST: Final = {"model", "stream", "system", "tools", "config", "contents"}


def _prompt(sent: Any) -> Prompt | None:
    """A request by the names of its pieces; None for what is told in another way."""
    if not isinstance(sent, dict) or sent.keys() != _REQUEST or type(sent["stream"]) is not bool:
        return None
    return Prompt(**sent, pieces={})


def _json(value: Any) -> str | None:
    return None if value is None else dumped(value)
