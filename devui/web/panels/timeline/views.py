"""Pieces of the session page: older events, one event, and the state."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from devui.debugger.events.matches import words
from devui.debugger.events.nodes import name_of
from devui.debugger.events.preview import one_line, preview
from devui.debugger.history.rewinds import effective_rewinds
from devui.debugger.predicates.filters import FilterInput
from devui.debugger.timeline import Line
from devui.store.rows import Change, EventRow, SessionRow
from devui.store.state import prefixed
from devui.web.errors import BadRequest
from devui.web.lookup import event_of, existing_event, session_of
from devui.web.page_query import PageQuery
from devui.web.panels.breakpoints.gutter import Gutter
from devui.web.panels.chat.chat import markdown_texts
from devui.web.panels.chat.content import as_markdown
from devui.web.panels.inspector.inspector import detail
from devui.web.panels.inspector.inspector import state as state_panel
from devui.web.panels.session.parts import EventTip
from devui.web.panels.state.keys import some_changes
from devui.web.panels.state.panel import LONGEST
from devui.web.panels.timeline.figures import later_parts, with_totals
from devui.web.panels.timeline.filtering import filter_words, filtered_rows, search, with_matches
from devui.web.panels.timeline.gaps import Gap, GapSection, gap
from devui.web.panels.timeline.kinds import WORDS
from devui.web.panels.timeline.panel_parts import GapContent
from devui.web.panels.timeline.rows import group_id, row_text
from devui.web.panels.timeline.window import Window, last_answers, window_between, without_forms
from devui.web.services import Services, services_of
from devui.web.text.deceptive_characters import visible
from devui.web.text.markdown import prepare
from devui.web.text.numbers import whole_number

_TIP_TEXT: Final = 120
_TIP_KEYS: Final = 5
_VALUE: Final = 40
"""Maximum characters of a value."""


async def rows(request: Request) -> Response:
    """Return the rows of a gap, `first` to `last`, that its reader has scrolled to: `limit` of
    those that match the filter, after the first `skip`.

    With `fold`, an event beside the gap, and `names`, the reader has folded the agent whose path is
    the first `names` names of the event's. The gap's events of that agent next to it stay a gap.
    """
    services, session = await session_of(request)
    await search(services, session, FilterInput.read(request.query_params.get("filter")).filter)
    async with services.rendering:
        return await _rows(request)


async def _rows(request: Request) -> Response:
    services, session, section, at = await _gap_of(request)
    number, key = at.number if at else None, session.key
    filter_field = FilterInput.read(request.query_params.get("filter"))
    if filter_field.filter is not None:
        query = await with_matches(services, session, PageQuery(filter_field=filter_field, at=at))
        numbers = section.of_its(query.matches.numbers if query.matches else ())
        section, fold = await _beside_fold(request, services, session, section, numbers)
        some = await filtered_rows(services, session, None, query=query, section=section)
        items, above, below = some.items, some.above, some.below
    else:
        numbers = range(section.first, section.last + 1)
        section, fold = await _beside_fold(request, services, session, section, numbers)
        start, end = section.numbers
        window = await _window(services, session, section, at)
        gutter = Gutter.of(services.book, services.prices, session)
        until = number or session.events
        items = await window.items(services.journal, gutter, until=until)
        above = gap(key, section.first, start - 1, at=number)
        below = gap(key, end + 1, section.last, at=number)
        above, below = await with_totals(
            services.journal, services.prices, key, above=above, below=below
        )
    if fold is not None:
        above, below = fold.mark(above), fold.mark(below)
    return services.render.page(GapContent(items, above, below))


@dataclass(frozen=True, slots=True)
class _Fold:
    """The events `first` to `last`; the ones with a row are all of one folded agent."""

    first: int
    last: int
    group: str
    path: str

    def mark(self, each: Gap | None) -> Gap | None:
        """Return the gap; if it is in the fold, with what its events have in common."""
        if each is None or each.first < self.first or each.last > self.last:
            return each
        return replace(each, group=self.group, path=self.path)


async def _beside_fold(
    request: Request,
    services: Services,
    session: SessionRow,
    section: GapSection,
    numbers: Sequence[int],
) -> tuple[GapSection, _Fold | None]:
    """Return the section to show of a gap, and the fold beside it; the section itself and None if
    no agent is folded. Of the agent's rows next to the fold, at most the agent's first is shown.
    `numbers` are those of the gap's rows."""
    number, names = (whole_number(request.query_params.get(name)) for name in ("fold", "names"))
    if number is None or not names or not numbers:
        return section, None
    row = await existing_event(services, session, str(number))
    path = "/".join(row.summary.path.split("/")[:names])
    first, last, limit = section.first, section.last, section.limit
    is_below = row.number > last  # the fold is; its first row is in the gap, or above it
    other = await services.journal.events.outside(
        session.key, row.invocation_id, path, numbers, is_last=is_below
    )
    parts = await later_parts(services.journal, session.key, [Line(row, None)])
    group, path = group_id(row.invocation_id, parts.get(row.number, 0)), visible(path)
    if is_below:
        start = 0 if other is None else numbers.index(other) + 1
        begin = first if other is None else other + 1
        skip = max(start - limit + 1, 0)
        return GapSection(first, last, skip, start - skip + 1), _Fold(begin, last, group, path)
    end = len(numbers) if other is None else numbers.index(other)
    fold = _Fold(first, last if other is None else other - 1, group, path)
    return GapSection.of(first, last, min(end, len(numbers) - 1), limit), fold


async def messages(request: Request) -> Response:
    """Return the messages of a gap in the chat: of `limit` events between `first` and `last`, after
    the first `skip`."""
    async with services_of(request).rendering:
        services, session, section, at = await _gap_of(request)
        number, key = at.number if at else None, session.key
        start, end = section.numbers
        window = await _window(services, session, section, at)
        is_imported = await services.journal.imports.get(key) is not None
        items = without_forms(window.messages()) if at or is_imported else window.messages()
        await prepare(markdown_texts(items))
        above = gap(key, section.first, start - 1, at=number, in_grid=False)
        below = gap(key, end + 1, section.last, at=number, in_grid=False)
        return services.render.page(GapContent(items, above, below))


async def _gap_of(
    request: Request,
) -> tuple[Services, SessionRow, GapSection, EventRow | None]:
    """Return the gap that the request names, and the event of the page; raises BadRequest."""
    services, session = await session_of(request)
    at = await event_of(services, session, request.query_params.get("at"))
    numbers = [whole_number(request.query_params.get(name)) for name in GapSection._fields]
    first, last, skip, limit = numbers
    if first is None or last is None or skip is None or limit is None:
        raise BadRequest("`first`, `last`, `skip` and `limit` must be numbers.")
    last = min(last, at.number if at else session.events)
    if not 1 <= first <= last:
        raise BadRequest(f"There are no events between #{first} and #{last}.")
    return services, session, GapSection.of(first, last, skip, limit), at


async def _window(
    services: Services, session: SessionRow, section: GapSection, at: EventRow | None
) -> Window:
    window = await window_between(services.journal, session.key, *section.numbers)
    if at is None:
        return window
    rewinds = await effective_rewinds(services.journal, session.key, until=at.number)
    later = tuple(row for row in window.later if row.number <= at.number)
    answers = await last_answers(services.journal, session.key, window.rows, until=at.seq + 1)
    return replace(window, rewinds=rewinds, later=later, answers=answers)


async def filter_terms(request: Request) -> Response:
    """Return the terms that a filter of the session can use."""
    services, session = await session_of(request)
    return services.render.page(filter_words(await words(services.journal, session.key)))


async def show(request: Request) -> Response:
    """Return one event in full."""
    services, session = await session_of(request)
    row = await existing_event(services, session, request.path_params["number"])
    return services.render.page(await detail(services, session, row))


async def text(request: Request) -> Response:
    """Return an event's text as Markdown; empty for an event without text."""
    services, session = await session_of(request)
    row = await existing_event(services, session, request.path_params["number"])
    body = await services.journal.events.body(session.key, row.number)
    return PlainTextResponse(as_markdown(body[1]) if body else "")


async def tip(request: Request) -> Response:
    """Return one event in a few words, with its changes to the state."""
    services, session = await session_of(request)
    row = await existing_event(services, session, request.path_params["number"])
    changes = await some_changes(services.journal, session.key, row.number)
    return services.render.page(event_tip(row, changes))


async def state(request: Request) -> Response:
    """Return the state as of the event `at`, or now."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("at"))
    return services.render.page(await state_panel(services, session, row))


def event_tip(row: EventRow, changes: Sequence[Change]) -> EventTip:
    """Return the event's kind, author and text, and its first few changes."""
    summary = row.summary
    return EventTip(
        number=row.number,
        kind=summary.kind,
        word=WORDS[summary.kind],
        author=visible(name_of(summary.node) or row.author),
        text=one_line(row_text(summary), _TIP_TEXT),
        changes=tuple(
            (visible(prefixed(each.scope, each.key)), _value(each.old), _value(each.new))
            for each in changes[:_TIP_KEYS]
        ),
        more=max(len(changes) - _TIP_KEYS, 0),
    )


def _value(text: str | None) -> str:
    return "" if text is None else visible(_preview(text))


def _preview(text: str) -> str:
    """Return a short form of a value; one too large to parse for a tip is shown as stored."""
    return preview(json.loads(text), _VALUE) if len(text) <= LONGEST else f"{text[:_VALUE]}…"
