"""Two sessions or runs beside each other, over HTTP."""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.compare.changes import Section
from devui.debugger.compare.comparison import Row
from devui.debugger.compare.facts import facts_of
from devui.debugger.compare.moments import MomentDiff, Prompts, moment_diff
from devui.debugger.compare.prompts import other_prompts
from devui.debugger.compare.sides import Side, compare_sides
from devui.web.api.debug import answer
from devui.web.api.keyhistory import change_told
from devui.web.api.watch import state_change_told
from devui.web.errors import BadRequest
from devui.web.services import Services
from devui.web.sides import event_of_side, sides_of


async def show(request: Request) -> Response:
    """`?left=` and `?right=` aligned: each row with what of it differs."""
    found, left, right = await sides_of(request)
    comparison = await compare_sides(found.journal, left, right)
    prompts = await other_prompts(found.journal, left, right, comparison)
    return answer(
        {
            "left": _side(found, left),
            "right": _side(found, right),
            "equal": comparison.equal,
            "differences": comparison.differences,
            "prompts": [asdict(each) for each in prompts],
            "first": _row(comparison.first) if comparison.first else None,
            "rows": [_row(row) for row in comparison.rows],
        }
    )


async def events(request: Request) -> Response:
    """What differs between `?leftEvent=` and `?rightEvent=`; one of them may be left out."""
    found, left, right = await sides_of(request)
    first = await event_of_side(found, request, left, "leftEvent")
    second = await event_of_side(found, request, right, "rightEvent")
    if first is None and second is None:
        raise BadRequest("name an event of a side at least: `leftEvent=4&rightEvent=5`")
    return answer(_events(await moment_diff(found.journal, first, second)))


def _side(found: Services, side: Side) -> dict[str, Any]:
    facts = facts_of(side, found.prices)
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
        "leftOut": side.left_out,
        "calls": facts.calls,
        "tokens": facts.tokens,
        "cost": facts.cost,
        "unpriced": facts.unpriced,
        "seconds": facts.seconds,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "left": row.left,
        "right": row.right,
        "differs": row.differs,
        "aspects": [*row.aspects],
        "otherStep": row.other_step,
        "elsewhere": row.elsewhere,
    }


def _events(diff: MomentDiff) -> dict[str, Any]:
    return {
        "left": diff.left.row.number if diff.left else None,
        "right": diff.right.row.number if diff.right else None,
        "sections": [_section(section) for section in diff.sections],
        "state": None if diff.state is None else [state_change_told(each) for each in diff.state],
        "prompts": _prompts(diff.prompts) if diff.prompts else None,
    }


def _section(section: Section) -> dict[str, Any]:
    changes = [change_told(each) for each in section.differences]
    return {"aspect": section.aspect, "name": section.name, "changes": changes}


def _prompts(prompts: Prompts) -> dict[str, Any]:
    return {
        "left": {"session": prompts.left.session, "span": prompts.left.id},
        "right": {"session": prompts.right.session, "span": prompts.right.id},
        "differing": [*prompts.differing],
    }
