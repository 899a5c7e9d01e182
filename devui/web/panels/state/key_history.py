"""The pinned state key: its writes, the changes of each, and which write each piece is from."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Self

from devui.debugger.events.preview import preview
from devui.debugger.history import key_history as key_histories
from devui.debugger.history.blame import ABSENT, Difference, MaybeJson
from devui.debugger.history.paths import Path, Pin, path_text
from devui.store.rows import EventRow, SessionRow
from devui.store.state import scoped
from devui.web.links import session_url, writes_url
from devui.web.page_query import PageQuery
from devui.web.panels.hold.interventions import hint
from devui.web.panels.state.parts import (
    Crumb,
    KeyChange,
    KeyHistory,
    KeyPiece,
    KeyWriteItem,
    PinBar,
    WriterNote,
)
from devui.web.panels.state.step_chart import step_chart, value_at
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural

_VALUE: Final = 120
"""Maximum characters shown of a value."""
_CHANGES: Final = 6
"""Maximum number of places shown for one write."""
_PIECES: Final = 60
_NOW: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class KeyLinks:
    """Links to the history of a key, on a page about one event and as of another."""

    session: int
    event: int | None = None
    at: int | None = None
    since: int | None = None
    """The event with whose state the page compares."""

    @classmethod
    def of(cls, session: int, row: EventRow | None, query: PageQuery) -> Self:
        """Return the links of the page that the query asks for."""
        at, since = query.at, query.since
        return cls(
            session,
            row.number if row else None,
            at.number if at else None,
            since.number if since else None,
        )

    def to(self, pin: Pin, *, event: int | None = None) -> str:
        """Return the state with the key pinned, of the page's event or of another."""
        return session_url(
            self.session,
            event=event or self.event,
            at=self.at,
            tab="state",
            pin=pin,
            since=self.since,
        )

    def within(self, key: str) -> Callable[[Path], str]:
        """Return a function for the same link at a path in the key's value."""
        return lambda path: self.to(Pin(key, path))


async def pin_bar(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    pin: Pin,
    *,
    tab: str,
    query: PageQuery,
) -> PinBar:
    """Return the pinned key, with links to the writes around the event that is shown."""
    links = KeyLinks.of(session.key, row, query)
    seq, number = (row.seq, row.number) if row else (_NOW, None)

    async def beside(*, back: bool) -> str | None:
        there = await key_histories.nearest_write(
            services.journal.histories, session.key, scoped(pin.key), seq, back=back, path=pin.path
        )
        way = "previous" if back else "next"
        return (
            writes_url(
                session.key,
                way,
                at=number,
                tab=tab,
                pin=pin,
                since=links.since,
                only=query.filter,
            )
            if there
            else None
        )

    return PinBar(
        key=pin.key,
        path=path_text(pin.path),
        crumbs=_crumbs(pin, links),
        back_href=await beside(back=True),
        on_href=await beside(back=False) if row else None,
        close_href=session_url(
            session.key, event=links.event, at=links.at, tab=tab, since=links.since
        ),
    )


def _crumbs(pin: Pin, links: KeyLinks) -> tuple[Crumb, ...]:
    """Return the key, then each step of the path: `plan`, `.steps`, `[1]`."""
    steps = [Crumb(visible(pin.key), links.to(Pin(pin.key)))]
    for count in range(1, len(pin.path) + 1):
        text = path_text(pin.path[count - 1 : count])
        dot = "" if text.startswith("[") else "."
        steps.append(Crumb(visible(dot + text), links.to(Pin(pin.key, pin.path[:count]))))
    return tuple(steps)


async def _earlier(
    services: Services, session: SessionRow, pin: Pin, history: key_histories.KeyHistory
) -> str | None:
    """Return where writes older than those read are listed; "" if no event of this session leads
    there, None if there are no older writes."""
    if not history.earlier or history.oldest is None:
        return None
    histories = services.journal.histories
    last = await histories.previous(session.key, *scoped(pin.key), history.oldest)
    return session_url(session.key, at=last, tab="state", pin=pin) if last else ""


async def key_history(
    services: Services, session: SessionRow, row: EventRow | None, pin: Pin, *, query: PageQuery
) -> KeyHistory:
    """Return the writes of what is pinned, up to the event that the page is as of."""
    history = await key_histories.key_history(
        services.journal.histories,
        session.key,
        *scoped(pin.key),
        until=query.at.seq if query.at else None,
        as_of=row.seq if row else None,
        path=pin.path,
    )
    links = KeyLinks.of(session.key, row, query)
    context, number = _Context(pin, links, row), links.event
    writes = _with_marker([context.write(each) for each in history.writes])
    here = next((place for place, write in enumerate(writes) if write.here), None)
    asking = {"key": pin.key, "path": path_text(pin.path), "event": number, "at": links.at}
    asking |= {"since": links.since}
    parallel = sorted({visible(by) for each in history.writes for by in _parallel(each)})
    return KeyHistory(
        name=visible(pin.key + context.place(pin.path)),
        by=context.writer(history.source) if history.source else None,
        number=number,
        writes=writes,
        earlier=await _earlier(services, session, pin, history),
        pieces=_pieces(history, context),
        warning=" and ".join(parallel),
        chart=step_chart([value_at(each.new, pin.path) for each in history.writes], here),
        query=tuple(
            (name, str(value))
            for name, value in asking.items()
            if value is not None and value != ""
        ),
    )


def _parallel(write: key_histories.KeyWrite) -> set[str]:
    """Return everyone who wrote the key at the same time, including this write's author."""
    others = {note.by for note in write.overlaps}
    return others | {write.event.author} if others and write.event else others


def _with_marker(writes: list[KeyWriteItem]) -> tuple[KeyWriteItem, ...]:
    """Mark the last write that isn't later: its value is the one shown."""
    here = max((i for i, write in enumerate(writes) if not write.later), default=None)
    return tuple(replace(write, here=i == here) for i, write in enumerate(writes))


def _pieces(history: key_histories.KeyHistory, context: "_Context") -> tuple[KeyPiece, ...]:
    """Return the pieces of the value; none if all of it is from one write."""
    if len(history.blame) < 2:
        return ()
    return tuple(
        KeyPiece(
            path=visible(path_text(at)),
            href=context.links.to(Pin(context.pin.key, at)),
            writer=context.writer(write),
        )
        for at, write in history.blame[:_PIECES]
    )


@dataclass(frozen=True, slots=True)
class _Context:
    """The data that all lines share."""

    pin: Pin
    links: KeyLinks
    row: EventRow | None

    def write(self, write: key_histories.KeyWrite) -> KeyWriteItem:
        """Return one write with its changes at the path, inside it or around it."""
        changes = [
            change
            for change in write.changes
            if change.path[: len(self.pin.path)] == self.pin.path
            or self.pin.path[: len(change.path)] == change.path
        ]
        left_out = len(changes) - _CHANGES
        return KeyWriteItem(
            writer=self.writer(write),
            changes=tuple(self._change(change) for change in changes[:_CHANGES]),
            more=plural(left_out, "more change") if left_out > 0 else "",
            edits=(hint(write.summary),) if write.summary and write.summary.edited else (),
            overlaps=tuple(visible(note.by) for note in write.overlaps),
            here=False,
            later=self._is_later(write),
        )

    def writer(self, write: key_histories.KeyWrite) -> WriterNote:
        """Return the writer, with a link to it."""
        row = write.event
        if write.writer == "initial":
            return WriterNote("start", None, "", "initial state")
        if row is None:
            return _elsewhere(write.session)
        if write.writer == "elsewhere":
            href = session_url(row.session, event=row.number, tab="state")
            return WriterNote("elsewhere", href, visible(row.author), "in another session")
        href = self.links.to(self.pin, event=row.number)
        how = f"via {visible(', '.join(write.tools))}" if write.tools else ""
        return WriterNote(f"#{row.number}", href, visible(row.author), how)

    def place(self, path: Path) -> str:
        """Return a path as it is written after the key."""
        text = path_text(path)
        return text if not text or text.startswith("[") else f".{text}"

    def _is_later(self, write: key_histories.KeyWrite) -> bool:
        return bool(self.row and write.event and write.event.seq > self.row.seq)

    def _change(self, change: Difference) -> KeyChange:
        return KeyChange(
            path=visible(self.place(change.path)),
            href=self.links.to(Pin(self.pin.key, change.path)),
            old=_value(change.old),
            new=_value(change.new),
        )


def _value(value: MaybeJson) -> str:
    return "" if value is ABSENT else visible(preview(value, _VALUE))


def _elsewhere(session: int | None) -> WriterNote:
    """Return a writer that isn't an event: another session's initial state, or an unknown one."""
    if session is None:
        return WriterNote("elsewhere", None, "", "a session that no longer exists")
    href = session_url(session, tab="state")
    return WriterNote("elsewhere", href, "", "initial state of another session")
