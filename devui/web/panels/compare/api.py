"""The JSON routes that compare two sessions or runs."""

from dataclasses import asdict
from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.compare.changes import Section
from devui.debugger.compare.comparison import Row, RowKind
from devui.debugger.compare.facts import facts_of
from devui.debugger.compare.moments import MomentDiff, Prompts, moment_diff
from devui.debugger.compare.prompts import other_prompts
from devui.debugger.compare.sides import Side, compare_sides
from devui.debugger.compare.steps import Aspect
from devui.web.errors import BadRequest
from devui.web.json_answers import answer
from devui.web.operation import Query, operation
from devui.web.panels.compare.sides import event_of_side, sides_of
from devui.web.panels.state.history_api import DifferenceJson, change_json
from devui.web.panels.timeline.api import KeyChangeJson, state_change_json
from devui.web.services import Services


class ComparedSideJson(TypedDict):
    """A session, or one of its runs, with its figures; unknown figures are null."""

    name: str
    session: int
    id: str
    app: str
    user: str
    title: str | None
    run: str | None
    status: str | None
    events: int
    omitted: int
    calls: int
    tokens: int | None
    cost: float | None
    unpriced: int
    seconds: float | None
    """How long the ended runs took, without the time they were held; in a fork, copied events
    count, too."""


class ComparedRowJson(TypedDict):
    """The numbers of two matching events, or of one without a match. The match of a moved event is
    elsewhere. After a fork, a later event belongs to a turn that only its side has; it doesn't
    count as a difference."""

    kind: RowKind
    left: int | None
    right: int | None
    differs: bool
    aspects: list[Aspect]
    otherStep: bool
    movedTo: int | None
    later: bool


class OtherPromptJson(TypedDict):
    """A part of the model requests that differs, and the first two matching events where it
    does."""

    piece: Literal["model", "system", "tools", "config"]
    left: int
    right: int


class ComparisonJson(TypedDict):
    """Two aligned sides; `first` is the row of the first difference."""

    left: ComparedSideJson
    right: ComparedSideJson
    equal: bool
    differences: int
    prompts: list[OtherPromptJson]
    first: ComparedRowJson | None
    rows: list[ComparedRowJson]


class ComparedSectionJson(TypedDict):
    """The differences in one aspect; for calls and results, in one of them."""

    aspect: Aspect
    name: str
    changes: list[DifferenceJson]


class ComparedSpanJson(TypedDict):
    """A model call; see /api/sessions/{key}/spans/{span}."""

    session: int
    span: int


class ComparedPromptsJson(TypedDict):
    """The model requests for two events, and which of model, system, tools, config and messages
    differ."""

    left: ComparedSpanJson
    right: ComparedSpanJson
    aspects: list[str]


class EventComparisonJson(TypedDict):
    """The differences between two events: their content, the state after them, and the model
    requests. State and prompts are null if one of the events, or a model call, is missing."""

    left: int | None
    right: int | None
    sections: list[ComparedSectionJson]
    state: list[KeyChangeJson] | None
    prompts: ComparedPromptsJson | None


_SIDES: Final = {
    "left": Query(str, "A session by its number, or one of its runs: 12, or 12@2", required=True),
    "right": Query(str, "The other side, in the same form", required=True),
}
_REFUSALS: Final = (400, 404)


@operation(ComparisonJson, query=_SIDES, refusals=_REFUSALS)
async def show(request: Request) -> Response:
    """Compare two sessions or runs.

    Aligned row by row, see [comparing](debugging.md#comparing).
    """
    services, left, right = await sides_of(request)
    comparison = await compare_sides(services.journal, left, right)
    prompts = await other_prompts(services.journal, left, right, comparison)
    return answer(
        {
            "left": _side(services, left),
            "right": _side(services, right),
            "equal": comparison.equal,
            "differences": comparison.differences,
            "prompts": [asdict(each) for each in prompts],
            "first": _row(comparison.first) if comparison.first else None,
            "rows": [_row(row) for row in comparison.rows],
        }
    )


@operation(
    EventComparisonJson,
    query={
        **_SIDES,
        "leftEvent": Query(int, "The number of an event of the left side"),
        "rightEvent": Query(int, "The number of an event of the right side"),
    },
    refusals=_REFUSALS,
)
async def events(request: Request) -> Response:
    """Compare two events.

    One of the two may be omitted.
    """
    services, left, right = await sides_of(request)
    first = await event_of_side(services, request, left, "leftEvent")
    second = await event_of_side(services, request, right, "rightEvent")
    if first is None and second is None:
        raise BadRequest("give at least one event: `leftEvent=4&rightEvent=5`")
    return answer(_events(await moment_diff(services.journal, first, second)))


def _side(services: Services, side: Side) -> ComparedSideJson:
    facts = facts_of(side, services.prices)
    return {
        "name": side.name,
        "session": side.session.key,
        "id": side.session.id,
        "app": side.session.app,
        "user": side.session.user,
        "title": side.session.title,
        "run": side.run.id if side.run and side.place else None,
        "status": side.run.status if side.run else None,
        "events": facts.events,
        "omitted": side.left_out,
        "calls": facts.calls,
        "tokens": facts.tokens,
        "cost": facts.cost,
        "unpriced": facts.unpriced,
        "seconds": facts.seconds,
    }


def _row(row: Row) -> ComparedRowJson:
    return {
        "kind": row.kind,
        "left": row.left,
        "right": row.right,
        "differs": row.differs,
        "aspects": [*row.aspects],
        "otherStep": row.other_step,
        "movedTo": row.moved_to,
        "later": row.later,
    }


def _events(diff: MomentDiff) -> EventComparisonJson:
    return {
        "left": diff.left.row.number if diff.left else None,
        "right": diff.right.row.number if diff.right else None,
        "sections": [_section(section) for section in diff.sections],
        "state": None if diff.state is None else [state_change_json(each) for each in diff.state],
        "prompts": _prompts(diff.prompts) if diff.prompts else None,
    }


def _section(section: Section) -> ComparedSectionJson:
    changes = [change_json(each) for each in section.differences]
    return {"aspect": section.aspect, "name": section.name, "changes": changes}


def _prompts(prompts: Prompts) -> ComparedPromptsJson:
    return {
        "left": {"session": prompts.left.session, "span": prompts.left.id},
        "right": {"session": prompts.right.session, "span": prompts.right.id},
        "aspects": [*prompts.aspects],
    }
