"""A session as one self-contained HTML file, which loads nothing and posts no forms.

The session first goes through a bundle: it is exported without its secrets and imported into a
temporary journal. So one module decides what leaves the server, and the page shows exactly what an
import of the bundle would.
"""

import asyncio
import base64
import json
import re
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Final, TypeVar, cast
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from devui.debugger.background.jobs import Progress, Stoppable
from devui.debugger.background.slices import SLICE, Yielder
from devui.debugger.bundles.exchange import Exchange, ExportOptions
from devui.debugger.history.paths import path_of
from devui.debugger.runs.uncommitted import touch_outcomes
from devui.store.journal import Journal
from devui.store.rows import Artifact, EditRow, EventRow, SessionRow
from devui.web.assets import Assets
from devui.web.isolation import source_of
from devui.web.panels.apps.lists import session_name
from devui.web.panels.breakpoints.gutter import Gutter
from devui.web.panels.bundles.parts import ExportedPage
from devui.web.panels.chat.chat import markdown_texts
from devui.web.panels.chat.content import InlineFile, inline_file
from devui.web.panels.chat.content_parts import TextPart
from devui.web.panels.chat.parts import ChatMessage, RunNote
from devui.web.panels.chat.previews import MEDIA, is_true_type, media_type
from devui.web.panels.graph.panel import app_info, session_graph
from devui.web.panels.inspector.detail import event_detail
from devui.web.panels.inspector.edits import with_args_run
from devui.web.panels.inspector.parts import EventDetail, StatePanel
from devui.web.panels.notes.parts import note_form
from devui.web.panels.state.keys import some_changes, some_state
from devui.web.panels.state.panel import state_panel
from devui.web.panels.state.uncommitted import event_notes
from devui.web.panels.timeline.parts import InvocationHeader
from devui.web.panels.timeline.rewind_marks import rewind_mark
from devui.web.panels.timeline.window import Window, window_before, without_forms
from devui.web.services import Services
from devui.web.text.deceptive_characters import readable, visible
from devui.web.text.formats import LONGEST_TEXT, plural
from devui.web.text.markdown import is_parsed, prepare
from devui.wire.events import Event
from devui.wire.gates import EDITED

# Jinja escapes quotes and angle brackets in all untrusted text, so these patterns match only what a
# template wrote.
_FORM: Final = re.compile(r"<form\b.*?</form>", re.DOTALL)
_FORK: Final = re.compile(r'<details class="fork".*?</details>', re.DOTALL)
_FETCHED: Final = re.compile(r"<details\b[^>]*\shx-get=.*?</details>", re.DOTALL)
# Searched for only within tags: most of a page is text, which a search for `<` skips quickly.
_TAG: Final = re.compile(
    r'<[a-z][^<>]*?\s(?:hx-|data-gutter|aria-haspopup|href="/|src="/|(?:id|for|aria-\w+by)=)[^<>]*>'
)
_HTMX: Final = re.compile(r'\s(?:hx-[\w:.-]+|data-gutter|aria-haspopup)(?:="[^"]*")?(?=[\s>])')
_DROPPED: Final = (
    ('class="fork"', _FORK),
    ("<details", _FETCHED),
    ("<form", _FORM),
)
"""The markup that is useless in a file, each with a text that it contains."""
_LINK: Final = re.compile(r'\shref="(/[^"]*)"')
_SOURCE: Final = re.compile(r'\ssrc="(/[^"]*)"')
_ID: Final = re.compile(r'\s(id|for|aria-describedby|aria-labelledby)="([\w:.-]+)"')
_EVENT: Final = re.compile(r"/sessions/\d+")
_FILE: Final = re.compile(r"/sessions/\d+/artifacts/([^/?]+)")
_OF_EVENT: Final = re.compile(r"/sessions/\d+/events/(\d+)/file")
_NO_LINK: Final = re.compile(r'<a class="file-(?:open|save)"(?![^>]* href=)[^>]*>[^<]*</a>')
_NO_THUMBNAIL: Final = re.compile(r'<a class="picture thumbnail"[^>]*><img(?! src=)[^>]*></a>')
_OPENS: Final = ('<a class="file-open"', '<a class="picture"')
_LARGEST: Final = 2_000_000
"""The size in bytes up to which the page embeds a file."""


class InlineAssets:
    """The inlined styles and script, and the policy that allows these and nothing else."""

    def __init__(self, assets: Assets, styles: Sequence[str], script: str) -> None:
        self._css = assets.read(f"css/{'+'.join(styles)}.css").decode()
        self._js = assets.read(script).decode()

    def into(self, page: str) -> str:
        """Return the page with both inserted."""
        policy = (
            f"default-src 'none'; img-src data:; media-src data:; style-src {source_of(self._css)};"
            f" script-src {source_of(self._js)}; base-uri 'none'; form-action 'none'"
        )
        page = page.replace("<!--policy-->", policy)
        page = page.replace("<!--styles-->", f"<style>{self._css}</style>")
        return page.replace("<!--script-->", f"<script>{self._js}</script>")


async def link_free(
    text: str, journal: Journal, session: SessionRow, *, apart: int | None = None
) -> str:
    """Return a part that needs no server: links lead within the page, and files are embedded.

    `apart` is the event that the part is about; it makes the part's ids unique.
    """
    for begin, whole in _DROPPED:
        if begin in text:
            text = whole.sub("", text)
    tags = {tag: await _alone(tag, journal, session, apart) for tag in set(_TAG.findall(text))}
    text = _TAG.sub(lambda match: tags[match[0]], text)
    text = _NO_LINK.sub("", text) if 'class="file-' in text else text
    return _NO_THUMBNAIL.sub("", text) if "thumbnail" in text else text


async def _alone(tag: str, journal: Journal, session: SessionRow, apart: int | None) -> str:
    tag = _HTMX.sub("", tag)
    for url in _SOURCE.findall(tag):
        tag = tag.replace(f' src="{url}"', await _picture(url, journal, session))
    for url in _LINK.findall(tag):
        if tag.startswith(_OPENS):  # browsers open no embedded file as a page
            tag = tag.replace(f' href="{url}"', "")
            continue
        tag = tag.replace(f' href="{url}"', await _place(url, journal, session))
    if apart is None:
        return tag
    return _ID.sub(lambda match: f' {match[1]}="d{apart}-{match[2]}"', tag)


async def _picture(url: str, journal: Journal, session: SessionRow) -> str:
    """Return the replacement for the `src="url"` of a picture in an event or artifact; "" for
    none."""
    parts = urlsplit(url.replace("&amp;", "&"))
    if _OF_EVENT.fullmatch(parts.path):
        file = await _file_of_event(parts, journal, session)
        mime, content = (file.mime, file.content) if file else ("", b"")
    else:
        artifact = await _artifact(parts, journal, session)
        mime = media_type(artifact.row.mime) if artifact else ""
        content = (artifact.data if artifact else None) or b""
        if MEDIA.get(mime) != "picture" or not is_true_type(mime, content):
            return ""
    if not content or len(content) > _LARGEST:
        return ""
    return f' src="data:{mime};base64,{base64.b64encode(content).decode()}"'


async def _place(url: str, journal: Journal, session: SessionRow) -> str:
    """Return the replacement for `href="url"`; "" for none."""
    parts = urlsplit(url.replace("&amp;", "&"))
    query = parse_qs(parts.query)
    if _EVENT.fullmatch(parts.path) and query.get("event"):
        return f' href="#d-{int(query["event"][0])}"'
    artifact = await _artifact(parts, journal, session)
    content = artifact and (
        artifact.data if artifact.data is not None else (artifact.text or "").encode()
    )
    file = await _file_of_event(parts, journal, session)
    if file and MEDIA.get(media_type(file.mime)) != "picture":  # the file has the picture itself
        content = file.content
    if not content or len(content) > _LARGEST:
        return ""
    return f' href="data:application/octet-stream;base64,{base64.b64encode(content).decode()}"'


async def _file_of_event(
    url: SplitResult, journal: Journal, session: SessionRow
) -> InlineFile | None:
    """Return the file in an event that a URL names; None for other URLs, or if there is none."""
    event, path = _OF_EVENT.fullmatch(url.path), parse_qs(url.query).get("path")
    body = await journal.events.body(session.key, int(event[1])) if event and path else None
    return inline_file(body[1], path_of(path[0])) if body and path else None


async def _artifact(url: SplitResult, journal: Journal, session: SessionRow) -> Artifact | None:
    """Return the version of a file that a URL names; None for other URLs, or if it doesn't
    exist."""
    file, version = _FILE.fullmatch(url.path), parse_qs(url.query).get("version")
    if file is None:
        return None
    return await journal.artifacts.load(
        session.app,
        session.user,
        session.id,
        unquote(file[1]),
        version=int(version[0]) if version else None,
    )


STYLES: Final = (
    *("colors", "base", "parts", "session", "chat", "timeline", "inspector", "hold", "recovery"),
    *("notes", "graph", "narrow", "exported"),
)
SCRIPT: Final = "js/pages/exported.js"
Part = TypeVar("Part")

_BATCH: Final = 25
_STATES: Final = 300
"""The largest number of events for which each event gets its state; beyond, the file would be many
times as large."""
_FORMATTED: Final = 400_000
"""How many characters of Markdown are formatted, about half a second of work; later messages are
shown as written, and the page says so."""
_END: Final = 2**63 - 1
_AS_WRITTEN: Final = (
    '<p class="notice" role="note">This session is long: from here on, messages are shown as'
    " written, without Markdown formatting.</p>\n"
)
_SHORTENED: Final = (
    '<p class="muted">Long text is shortened in this file. Export the session as JSON to get the'
    " full event.</p>\n"
)


async def html(
    services: Services, session: int, options: ExportOptions, progress: Progress
) -> AsyncIterator[str]:
    """Yield the pieces of the file, in order. Raises SessionNotFound, JournalDamaged,
    JobStopped."""
    exchange = Exchange(services.journal, services.settings)
    original = await services.journal.sessions.get(session)
    progress.begin(await exchange.size(session) + (original.events if original else 0))
    with (
        tempfile.TemporaryDirectory(prefix="devui-export-") as folder,
        tempfile.TemporaryFile(dir=folder) as file,
    ):
        essentials = replace(options, extra=False)
        async for line in exchange.lines(session, essentials, progress):
            file.write(line.encode())
        async with await Journal.open(Path(folder) / "data") as journal:
            row = await Exchange(journal, services.settings).take(
                file, progress=Stoppable(progress), words_of=services.runs.words_of, own=True
            )
            origin = json.loads(await journal.imports.get(row.key) or "{}")
            yielder = Yielder()
            writer = _Writer(services, journal, row, origin["id"], progress=progress)
            async for piece in writer.pieces():
                yield piece
                await yielder.after(len(piece))


class _Writer:
    """Writes one file."""

    def __init__(
        self,
        services: Services,
        journal: Journal,
        session: SessionRow,
        name: str,
        *,
        progress: Progress,
    ) -> None:
        self._services = services
        self._journal = journal
        self._session = session
        self._name = name
        self._progress = progress
        self._inlined = InlineAssets(services.render.assets, STYLES, SCRIPT)
        self._formatting = _Formatting()
        self._yielder = Yielder()

    async def pieces(self) -> AsyncIterator[str]:
        """Yield the chat, then the rows, then each event in full.

        All three are built window by window, so that each text is converted only once; rows and
        events are spooled to files until their turn.
        """
        part, gutter = self._services.render.part, Gutter(self._services.prices)
        frame = self._inlined.into(await self._free(str(part(await self._frame()))))
        before_chat, _, rest = frame.partition("<!--messages-->")
        before_rows, _, rest = rest.partition("<!--rows-->")
        before_events, _, after = rest.partition("<!--events-->")
        edits = {edit.id: edit for edit in await self._journal.edits.list(self._session.key)}
        with self._spool() as rows, self._spool() as events:
            yield before_chat
            async for window in self._windows():
                was_long = self._formatting.is_spent
                messages = [
                    self._formatting.message(each) for each in without_forms(window.messages())
                ]
                await prepare(markdown_texts(messages))
                if self._formatting.is_spent and not was_long:
                    yield _AS_WRITTEN
                for message in messages:
                    yield await self._free(str(part(message)))
                for item in await window.items(self._journal, gutter, until=self._session.events):
                    # The previous window has the header of an invocation that continues here.
                    if not (isinstance(item, InvocationHeader) and item.continued):
                        rows.write(await self._free(str(part(item))))
                bodies = await self._bodies(window)
                for row in window.rows:
                    event_markup = await self._event(window, row, bodies, edits)
                    events.write(event_markup)
                    self._progress.advance()
                    await self._yielder.after(len(event_markup))
            yield before_rows
            for piece in _pieces(rows):
                yield piece
            yield before_events
            for piece in _pieces(events):
                yield piece
            yield after

    def _spool(self) -> IO[str]:
        return tempfile.TemporaryFile(
            "w+", dir=self._journal.path, encoding="utf-8", errors="surrogatepass", newline=""
        )

    async def _frame(self) -> ExportedPage:
        session, services = self._session, self._services
        note = await self._journal.notes.get(session.key, 0)
        last = await self._journal.events.page(session.key, limit=1)
        info = app_info(services, session.app)
        return ExportedPage(
            name=session_name(session),
            app=visible(session.app),
            user=visible(session.user),
            id=visible(self._name),
            events=plural(session.events, "event"),
            tags=tuple(readable(tag) for tag in await self._journal.tags.of(session.key)),
            note=note_form(session.key, 0, note) if note else None,
            state=await self._state(None, None),
            graph=await session_graph(
                self._journal, session, info, row=last[0] if last else None, menus=False
            ),
        )

    async def _windows(self) -> AsyncIterator[Window]:
        after, journal, key = 0, self._journal, self._session.key
        while rows := await journal.events.page(key, after=after, limit=_BATCH):
            last = len(rows) < _BATCH
            until = _END if last else rows[-1].seq + 1
            yield await window_before(journal, key, until, size=len(rows))
            if last:
                return
            after = rows[-1].seq

    async def _bodies(self, window: Window) -> dict[int, Event]:
        """Return the window's small events, by number; large ones are read one at a time."""
        small = [row.number for row in window.rows if row.size <= SLICE]
        bodies = await self._journal.events.bodies(self._session.key, small)
        return {row.number: event for row, event in bodies}

    async def _event(
        self,
        window: Window,
        row: EventRow,
        bodies: Mapping[int, Event],
        edits: Mapping[int, EditRow],
    ) -> str:
        journal, key = self._journal, self._session.key
        event = bodies.get(row.number)
        if event is None:
            body = await journal.events.body(key, row.number)
            event = body[1] if body else Event("{}")
        delta = row.size > SLICE or '"stateDelta"' in event.text
        changes = await some_changes(journal, key, row.number) if delta else ()
        chunks = await journal.events.chunks(key, row.id) if row.chunks else []
        touches = await journal.uncommitted.of_run(row.run) if row.run else []

        def detail() -> str:
            marks = event.metadata.get(EDITED) or []
            part = event_detail(
                event,
                row,
                changes,
                summary=row.summary,
                prices=self._services.prices,
                chunks=[Event(chunk) for chunk in chunks],
                edits=[edits[mark["edit"]] for mark in marks if mark.get("edit") in edits],
                notes=event_notes(touch_outcomes(touches, over=True), row, row.summary),
                note=window.notes.get(row.number),
                saved_files=window.saved_files,
                in_file=True,
            )
            if event.calls:
                part = with_args_run(part, [*window.rows, *window.later])
            rewind = rewind_mark(window.rewinds, row.number, key, "detail")
            part = self._formatting.detail(replace(part, rewind=rewind))
            return str(self._services.render.part(part))

        state = ""
        if self._session.events <= _STATES:
            state = str(self._services.render.part(await self._state(row.seq, row.number)))
            title = "<summary>State after this event</summary>"
            state = f'<details class="state-fold">{title}{state}</details>'
        large = row.size > SLICE or len(chunks) > _BATCH
        markup = await asyncio.to_thread(detail) if large else detail()
        return (
            f'<section class="detail panel" id="d-{row.number}" tabindex="-1">'
            f"{_SHORTENED if row.size > LONGEST_TEXT else ''}"
            f"{await self._free(markup, row.number)}{await self._free(state, row.number)}"
            "</section>\n"
        )

    async def _state(self, seq: int | None, number: int | None) -> StatePanel:
        journal, key = self._journal, self._session.key
        values, more = await some_state(journal, key, seq, number)
        changes = await some_changes(journal, key, number) if number else ()
        return state_panel(values, changes, {}, session=key, number=number, more=more)

    async def _free(self, text: str, number: int | None = None) -> str:
        return await link_free(text, self._journal, self._session, apart=number)


class _Formatting:
    """Decides which texts of a file are formatted as Markdown: the first ones, up to a limit."""

    def __init__(self) -> None:
        self._budget = _FORMATTED
        self._plain: set[int] = set()

    @property
    def is_spent(self) -> bool:
        """Whether any message is shown as written."""
        return bool(self._plain)

    def message(self, message: ChatMessage | RunNote) -> ChatMessage | RunNote:
        """Return the chat's next message, formatted or as written."""
        if not isinstance(message, ChatMessage):
            return message
        message = replace(message, text_href="")
        size = sum(len(text) for text in markdown_texts([message]) if is_parsed(text))
        if not size or (size <= self._budget and not self._plain):
            self._budget -= size
            return message
        self._plain.add(message.number)
        return replace(message, parts=_as_written(message.parts))

    def detail(self, detail: EventDetail) -> EventDetail:
        """Return an event in full, formatted or as written like its message."""
        if detail.number not in self._plain:
            return detail
        return replace(detail, parts=_as_written(detail.parts))


def _as_written(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(
        cast("Part", replace(part, markdown=False)) if isinstance(part, TextPart) else part
        for part in parts
    )


def _pieces(file: IO[str]) -> Iterator[str]:
    """Return the pieces of a file, from its beginning."""
    file.seek(0)
    return iter(partial(file.read, SLICE), "")
