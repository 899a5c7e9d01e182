"""Stores the records of a checked bundle in the journal."""

import base64
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from devui.debugger.bundles import schema
from devui.debugger.bundles.checks import BadBundle
from devui.debugger.bundles.reading import Bundle
from devui.debugger.bundles.writing import compact_json, relabel, rename_pieces
from devui.debugger.runs.attempts import Attempts
from devui.debugger.runs.commit import event_of
from devui.debugger.runs.lineage import Lineage
from devui.debugger.runs.request import opening_title
from devui.store.errors import BadValue
from devui.store.imports import NewImport, SessionBuilder
from devui.store.rows import NewEdit, NewTouch, NoteRow, OutputLine, RunRow
from devui.store.runs.requests import NewSpan
from devui.wire.events import Event
from devui.wire.pieces import piece_name
from devui.wire.spans import Prompt


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to import a bundle."""

    app: str | None = None
    """The app of the session; None for the one in the bundle."""
    keeps_id: bool = False
    """Whether the session keeps the id in the bundle instead of getting a new one."""
    goes_on: bool = False
    """Whether it can be continued like any session, instead of only read and forked."""


AS_EXPORTED: Final = ImportOptions()


def new_import(bundle: Bundle, options: ImportOptions) -> NewImport:
    """Describe the session to create from a bundle."""
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
        app=options.app or header.app,
        id=header.id if options.keeps_id else None,
        goes_on=options.goes_on,
        user=header.user,
        title=header.title,
        created=header.created,
        updated=header.updated,
        tags=header.tags,
        data=json.dumps(origin),
        fork=None
        if first is None
        else (first.number, first.reason, first.note, first.invocation, first.created),
    )


class BundleImporter:
    """The import of one bundle; each attempt needs a new one."""

    def __init__(self, builder: SessionBuilder, words_of: Callable[[str], str]) -> None:
        self._builder = builder
        self._words_of = words_of
        self._runs: dict[str, str] = {}
        self._edits: dict[int, int] = {}
        self._lineages: defaultdict[str | None, Lineage] = defaultdict(Lineage)
        self._attempts = Attempts()
        self._lines: dict[str, int] = {}
        self._pieces: dict[str, str] = {}
        """The names of pieces in this journal, by their names in the bundle."""
        self._piece_names: set[str] = set()

    def store(self, records: Iterable[tuple[str, Any]]) -> None:
        """Store all records, in order. Raises BadBundle with the place of a record that the journal
        can't store."""
        for place, record in records:
            try:
                _STORE[type(record)](self, record)
            except BadValue as error:
                raise BadBundle(f"{place}: {error}") from error

    def edit(self, record: schema.Edit) -> None:
        """Store an edit; later events refer to it."""
        fields = record.model_dump(exclude={"type", "edit"})
        fields |= {"run": self._run(record.run)}
        relabel(record.before, self._edits.get)
        relabel(record.after, self._edits.get)
        fields |= {"before": compact_json(record.before), "after": compact_json(record.after)}
        self._edits[record.edit] = self._builder.edit(NewEdit(**fields))

    def dropped(self, record: schema.DroppedEdit) -> None:
        """Store where an event was dropped."""
        self._builder.dropped(self._edits[record.edit])

    def chunk(self, record: schema.Chunk) -> None:
        self._builder.chunk(record.event, self._optional(record.run), compact_json(record.data))

    def write(self, record: schema.Write) -> None:
        self._builder.write(record.scope, record.key, record.value)

    def start(self, record: schema.Start) -> None:
        self._builder.start(record.state)

    def event(self, record: schema.Event) -> None:
        """Store an event; what the journal indexes is computed anew."""
        relabel(record.event, self._edits.get)
        lineage = self._lineages[record.run]
        event = event_of(
            Event.of(record.event, compact_json(record.event)),
            final=record.final,
            lineage=lineage,
            attempts=self._attempts,
        )
        with_pause = replace(event, paused=record.paused)
        self._builder.event(with_pause, self._optional(record.run))
        if not self._builder.has_title and (title := opening_title(event, self._words_of)):
            self._builder.title(title)

    def artifact(self, record: schema.Artifact) -> None:
        data = None if record.data is None else base64.b64decode(record.data)
        self._builder.artifact(
            record.name,
            record.version,
            mime=record.mime,
            metadata=record.metadata,
            created=record.created,
            content=record.text or "" if data is None else data,
        )

    def run(self, record: schema.Run) -> None:
        row = RunRow(
            id=self._run(record.run),
            session=self._builder.key,
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
        self._builder.run(row, _json(record.held), record.paused)

    def output(self, record: schema.Output) -> None:
        run = self._run(record.run)
        first = self._lines.get(run, 1)
        lines = [OutputLine(str(stream), str(text), float(at)) for stream, text, at in record.lines]
        self._builder.output(run, first, lines)
        self._lines[run] = first + len(lines)

    def touch(self, record: schema.Touch) -> None:
        """Store how a run read or wrote state before a commit."""
        touch = NewTouch(record.number, record.event, record.flagged, compact_json(record.data))
        self._builder.add_touch(self._run(record.run), touch)

    def piece(self, record: schema.PieceOf) -> None:
        text = compact_json(record.data)
        name = piece_name(text)
        # Two pieces may be the same once they are redacted. They stay apart for the next export.
        if name not in self._piece_names:
            self._piece_names.add(name)
            self._pieces[record.name] = name
        self._builder.piece(self._pieces.get(record.name, record.name), text)

    def span(self, record: schema.Span) -> None:
        run = self._run(record.run)
        sent = rename_pieces(record.sent, lambda name: self._pieces.get(name, name))
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
        self._builder.span(span, record.event, (*outcome, _json(record.effects)))

    def note(self, record: schema.Note) -> None:
        fields = record.model_dump(exclude={"type"})
        self._builder.note(NoteRow(session=self._builder.key, **fields))

    def _run(self, label: str) -> str:
        """Return the run's id in this journal: ids are never taken from a file."""
        return self._runs.setdefault(label, str(uuid.uuid4()))

    def _optional(self, label: str | None) -> str | None:
        return None if label is None else self._run(label)


_STORE: Final[dict[type, Any]] = {
    schema.Edit: BundleImporter.edit,
    schema.DroppedEdit: BundleImporter.dropped,
    schema.Chunk: BundleImporter.chunk,
    schema.Write: BundleImporter.write,
    schema.Start: BundleImporter.start,
    schema.Event: BundleImporter.event,
    schema.Artifact: BundleImporter.artifact,
    schema.Run: BundleImporter.run,
    schema.Output: BundleImporter.output,
    schema.Touch: BundleImporter.touch,
    schema.PieceOf: BundleImporter.piece,
    schema.Span: BundleImporter.span,
    schema.Note: BundleImporter.note,
}


_REQUEST: Final = {"model", "stream", "system", "tools", "config", "contents"}


def _prompt(sent: Any) -> Prompt | None:
    """Return a request by the names of its pieces; None if it has another form."""
    if not isinstance(sent, dict) or sent.keys() != _REQUEST or type(sent["stream"]) is not bool:
        return None
    return Prompt(**sent, pieces={})


def _json(value: Any) -> str | None:
    return None if value is None else compact_json(value)
