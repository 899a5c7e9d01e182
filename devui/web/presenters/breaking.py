"""Breakpoints as the session page shows them: listed, asked about the past, made from an event."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final

from devui.debugger.breakpoints.breakpoints import BreakpointError, Draft, Known, On
from devui.debugger.breakpoints.hits import past_hits
from devui.debugger.breakpoints.scan import PastHit as FoundHit
from devui.debugger.filters import NOTHING_TYPED, Typed
from devui.debugger.matches import Matches
from devui.debugger.paths import Pin
from devui.debugger.statediff import Moment
from devui.debugger.summary import Summary
from devui.store.rows import EventRow, SessionRow
from devui.web.errors import NotFound
from devui.web.links import (
    breakpoint_delete_url,
    breakpoint_edit_url,
    breakpoint_url,
    breakpoints_url,
    session_url,
)
from devui.web.parts import every as parts
from devui.web.presenters.kinds import WORDS
from devui.web.services import Services
from devui.web.text.figures import plural
from devui.web.text.visible import visible

KINDS: Final[Mapping[On, str]] = {
    "tool": "tool: it is called",
    "event": "event: of a kind",
    "state": "state: a key is written",
    "model": "model: it is asked",
    "agent": "agent: it begins",
    "transfer": "transfer: to an agent",
    "artifact": "artifact: a file is saved",
    "final": "final response",
    "human": "a person is asked",
    "escalate": "escalate",
    "error": "error: with a code",
    "budget": "budget: a condition comes true",
}
"""What a breakpoint can be on, the frequent first, and what is compared with its name."""
_NOUNS: Final[Mapping[On, str]] = {
    "state": "state key",
    "final": "final response",
    "human": "question to a person",
}
_LISTED = 200
TAB, SHEET = "b", "s"
"""Where a breakpoint is listed: in its tab, and in the sheet that the gutter opens."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the reader wants to see of a tab."""

    past: int | None = None
    """The breakpoint whose hits over the past are shown."""
    form: parts.BreakForm | None = None
    """A form that was refused."""
    fork: bool = False
    """The form for a fork is to be open."""
    against: int | None = None
    """The model call that a request is compared with; 0 for the one before."""
    at: EventRow | None = None
    """The event that the whole page is as of."""
    pin: Pin | None = None
    """The state key whose history is shown."""
    since: Moment | None = None
    """The moment whose state is compared with that of what is selected."""
    typed: Typed = NOTHING_TYPED
    """What the timeline is to be narrowed to."""
    matches: Matches | None = None
    """The events that it is narrowed to."""

    @property
    def filter(self) -> str:
        """The filter in force, for addresses; an empty text for none."""
        return self.typed.filter.text if self.typed.filter else ""


NOTHING_ASKED: Final = Asked()


def stop_shape(draft: Draft) -> parts.GutterShape:
    """As editors draw them: a dot stops, a diamond on a condition, an outline says a line."""
    if draft.log:
        return "log"
    return "conditional" if draft.condition or draft.hit else "break"


def described(draft: Draft) -> str:
    """What a breakpoint waits for, in words: `tool find_airports of TravelAgent`."""
    noun = _NOUNS.get(draft.on, draft.on)
    named = "" if draft.name == "*" else draft.name
    noun += " to" if named and draft.on == "transfer" else ""
    agent = "" if draft.agent == "*" else f" of {draft.agent}"
    after = ", after" if draft.when == "after" else ""
    what = f"{named or 'any'} event" if draft.on == "event" else f"{noun} {named}".rstrip()
    return visible(f"{what}{agent}{after}")


def told(draft: Draft) -> str:
    """All that a breakpoint says, in one line."""
    condition = f" if {draft.condition}" if draft.condition else ""
    times = f", times {draft.hit}" if draft.hit else ""
    log = f", says {draft.log}" if draft.log else ""
    return visible(f"{described(draft)}{condition}{times}{log}")


def breakpoints(
    found: Services, session: SessionRow, form: parts.BreakForm | None = None
) -> parts.Breakpoints:
    """Those of the session's app, the oldest first; one with a form that was refused."""
    items = (break_item(found, each, session) for each in found.book.of(session.app))
    return parts.Breakpoints(
        tuple(replace(i, form=form) if form and form.number == i.number else i for i in items)
    )


def break_count(found: Services, session: SessionRow) -> str:
    """How many breakpoints are switched on for the session's user; nothing for none."""
    return str(len(found.book.enabled(session.app, session.user)) or "")


def break_item(
    found: Services, known: Known, session: SessionRow, *, place: str = TAB
) -> parts.BreakpointItem:
    """One of them, as it is in one of its places."""
    row, draft = known.row, known.breakpoint.draft
    return parts.BreakpointItem(
        id=f"{place}-{row.id}",
        number=row.id,
        version=row.version,
        enabled=found.book.is_on(known, session.user),
        what=described(draft),
        condition=visible(draft.condition),
        hit=visible(draft.hit),
        log=visible(draft.log),
        hits=f"met {plural(row.hits, 'time')}" if row.hits else "",
        action=breakpoint_url(session.key, row.id),
        delete_action=breakpoint_delete_url(session.key, row.id),
        past_href=session_url(session.key, tab="breaks", hits=row.id),
        form=change_form(session.key, known, place=place),
    )


def break_form(
    session: int,
    given: Mapping[str, str] | None = None,
    error: BreakpointError | None = None,
) -> parts.BreakForm:
    """The form for a new breakpoint, with what was typed and what is wrong with it."""
    typed = given or {}

    def field(name: str) -> parts.Field:
        wrong = error is not None and error.field == name
        return parts.Field(typed.get(name, ""), _reason(error) if error and wrong else "")

    return parts.BreakForm(
        id="break",
        action=breakpoints_url(session),
        kinds=tuple(
            parts.Choice(on, label, on == typed.get("on", "tool")) for on, label in KINDS.items()
        ),
        after=typed.get("when") == "after",
        name=field("name"),
        agent=field("agent"),
        condition=field("condition"),
        hit=field("hit"),
        log=field("log"),
        wrong=wrong_place(typed, error),
    )


def change_form(
    session: int,
    known: Known,
    given: Mapping[str, str] | None = None,
    error: BreakpointError | None = None,
    *,
    place: str = TAB,
) -> parts.BreakForm:
    """The form that changes a breakpoint, with what it is, or with what was typed in its place."""
    kept = {
        name: "" if value == "*" else value
        for name, value in asdict(known.breakpoint.draft).items()
    }
    number = known.row.id
    return replace(
        break_form(session, kept if given is None else given, error),
        id=f"{place}-{number}",
        action=breakpoint_edit_url(session, number),
        number=number,
        version=known.row.version,
    )


def wrong_place(typed: Mapping[str, str], error: BreakpointError | None) -> parts.WrongPlace | None:
    """The place in what was typed, if the error has one."""
    if error is None or error.at is None:
        return None
    text, at = typed.get(error.field, ""), error.at
    return parts.WrongPlace(visible(text[:at]), visible(text[at : at + 1]), visible(text[at + 1 :]))


def _reason(error: BreakpointError) -> str:
    return str(error).removeprefix(f"{error.field}: ")


async def breaks_panel(
    found: Services, session: SessionRow, row: EventRow | None, asked: Asked
) -> parts.BreaksPanel:
    """The tab: the list, the form, and the past of the breakpoint that was asked about."""
    past = None if asked.past is None else await _past(found, session, row, asked.past)
    return parts.BreaksPanel(
        app=session.app,
        user=visible(session.user),
        breakpoints=breakpoints(found, session, asked.form),
        form=asked.form if asked.form and not asked.form.number else break_form(session.key),
        past=past,
    )


async def _past(
    found: Services, session: SessionRow, row: EventRow | None, number: int
) -> parts.PastHits:
    known = found.book.get(session.app, number)
    if known is None:
        raise NotFound(f"{session.app} has no breakpoint {number}; it may have been deleted")
    past = await past_hits(found.journal, session, [known.breakpoint], found.prices)
    numbers = [hit.number for hit in past.hits]
    at = row.number if row else session.events + 1

    def href(number: int | None) -> str | None:
        if number is None:
            return None
        return session_url(session.key, event=number, tab="breaks", hits=known.row.id)

    def shown(hit: FoundHit) -> parts.PastHit:
        return parts.PastHit(
            hit.number, visible(hit.text), href(hit.number) or "", hit.number == at
        )

    return parts.PastHits(
        what=described(known.breakpoint.draft),
        hits=tuple(shown(hit) for hit in past.hits[:_LISTED]),
        previous_href=href(max((n for n in numbers if n < at), default=None)),
        next_href=href(min((n for n in numbers if n > at), default=None)),
        note=_note(len(numbers), past.scanned, more=past.more),
    )


def _note(hits: int, scanned: int, *, more: bool) -> str:
    shown = f"; the first {_LISTED} are listed" if hits > _LISTED else ""
    until = f", up to #{scanned}" if more else ""
    return f"{plural(hits, 'event')} of this session{until}{shown}"


# --- from an event -------------------------------------------------------------------------


def like_row(row: EventRow) -> Draft:
    """A breakpoint on events like this one: its kind, its author."""
    kind = Summary.from_json(row.summary).kind
    return Draft(on="event", name=kind, agent=row.author)


def like_this(row: EventRow, summary: Summary) -> parts.LikeThis:
    """What can be waited for that this event has: its kind, author, tools and state keys."""
    tools = [call.name for call in summary.calls] + [each.name for each in summary.responses]
    tool = tools[0] if tools else None
    like = {"kind": summary.kind, "agent": row.author, "tool": tool}
    return parts.LikeThis(
        action=breakpoints_url(row.session),
        offers=tuple(
            parts.Offer(visible(label), json.dumps(asdict(draft)))
            for label, draft in _offers(row, summary)
        ),
        run_to=json.dumps({name: value for name, value in like.items() if value}),
    )


def _offers(row: EventRow, summary: Summary) -> Iterator[tuple[str, Draft]]:
    word = WORDS[summary.kind]
    yield f"{word} of {row.author}", Draft(on="event", name=summary.kind, agent=row.author)
    yield f"any {word}", Draft(on="event", name=summary.kind)
    yield f"anything of {row.author}", Draft(on="event", agent=row.author)
    for name in dict.fromkeys(call.name for call in summary.calls):
        yield f"tool {name}", Draft(on="tool", name=name)
    for name in dict.fromkeys(response.name for response in summary.responses):
        yield f"result of {name}", Draft(on="tool", name=name, when="after")
    for key in summary.state_keys:
        yield f"state {key}", Draft(on="state", name=key)
