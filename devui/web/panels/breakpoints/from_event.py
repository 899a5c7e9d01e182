"""Breakpoints made from an event: one-click offers, and the sheet for choosing traits."""

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict
from typing import Final

from devui.debugger.breakpoints.breakpoint import Draft
from devui.debugger.breakpoints.kinds import When
from devui.debugger.predicates.expressions import quoted
from devui.store.rows import EventRow
from devui.store.summaries import Kind, Summary
from devui.web.links import breakpoints_url, session_url
from devui.web.panels.breakpoints.parts import (
    BreakpointSheet,
    BreakpointsHere,
    Offer,
    SimilarEvents,
    Trait,
)
from devui.web.panels.timeline.kinds import WORDS
from devui.web.text.deceptive_characters import visible

LOG: Final = "{agent}: {text}"
"""What a logpoint writes by default."""
_IMPLIED: Final[frozenset[Kind]] = frozenset({"call", "result"})
"""The kinds of events that a breakpoint on a tool implies."""


def draft_like(row: EventRow) -> Draft:
    """Return a breakpoint on events of the same kind and author."""
    kind = row.summary.kind
    return Draft(on="event", name=kind, agent=row.author)


def traits_of(row: EventRow, summary: Summary) -> dict[str, str | None]:
    """Return the kind, author and tool that define a similar event."""
    tools = [call.name for call in summary.calls] + [each.name for each in summary.responses]
    return {"kind": summary.kind, "agent": row.author, "tool": tools[0] if tools else None}


def like_this(row: EventRow, summary: Summary) -> SimilarEvents:
    """Return the breakpoints that one click makes: on the tools, keys, kind and author of an
    event."""
    traits = traits_of(row, summary)
    first, *others = (
        Offer(visible(label), json.dumps(asdict(draft))) for label, draft in _offers(row, summary)
    )
    return SimilarEvents(
        action=breakpoints_url(row.session),
        first=first,
        others=tuple(others),
        run_to=json.dumps({name: value for name, value in traits.items() if value}),
    )


def _offers(row: EventRow, summary: Summary) -> Iterator[tuple[str, Draft]]:
    """Yield the offers, the rarest trait first; each label continues the word "Break"."""
    word = WORDS[summary.kind]
    for name in dict.fromkeys(call.name for call in summary.calls):
        yield f"before {name}", Draft(on="tool", name=name)
    for name in dict.fromkeys(response.name for response in summary.responses):
        yield f"after {name}", Draft(on="tool", name=name, when="after")
    for key in summary.state_keys:
        yield f"on state {key}", Draft(on="state", name=key)
    if summary.kind == "user":
        yield "on user messages", Draft(on="event", name=summary.kind)
    else:
        yield (
            f"on any {word} from {row.author}",
            Draft(on="event", name=summary.kind, agent=row.author),
        )
        yield f"on any {word}", Draft(on="event", name=summary.kind)
    yield f"on any event from {row.author}", Draft(on="event", agent=row.author)


def breakpoint_sheet(row: EventRow, summary: Summary, here: BreakpointsHere) -> BreakpointSheet:
    """Return the sheet of a row, with kind, author and tools checked, and the breakpoints
    `here`."""
    traits = [
        Trait("kind", "kind", WORDS[summary.kind], is_checked=True),
        Trait("agent", "author", visible(row.author), is_checked=True),
    ]
    for value, label, name in _tools_and_keys(summary):
        traits.append(Trait(value, label, visible(name), is_checked=label != "state key"))
    return BreakpointSheet(
        action=breakpoints_url(row.session),
        number=row.number,
        here=here,
        traits=tuple(traits),
        tab_href=session_url(row.session, event=row.number, tab="breaks"),
    )


def draft_with(
    row: EventRow, summary: Summary, traits: Collection[str], *, condition: str, log: str
) -> Draft:
    """Return a breakpoint on events with all `traits`, and with the condition, if any.

    It is on the rarest of the traits; the others become conditions.
    """
    names = [(label, name) for value, label, name in _tools_and_keys(summary) if value in traits]
    keys = [name for label, name in names if label == "state key"]
    tools = [(label, name) for label, name in names if label != "state key"]
    is_kind = "kind" in traits
    conditions = [condition] if condition else []
    agent = row.author if "agent" in traits else "*"
    if len(tools) == 1 and not keys and (not is_kind or summary.kind in _IMPLIED):
        label, name = tools[0]
        when: When = "after" if label == "result of" else "before"
        return Draft(
            on="tool", name=name, agent=agent, when=when, condition=_all(conditions), log=log
        )
    conditions += [f"{quoted(name)} in tools" for _, name in tools]
    if not keys:
        kind = summary.kind if is_kind else "*"
        return Draft(on="event", name=kind, agent=agent, condition=_all(conditions), log=log)
    conditions += [f"exists(delta[{quoted(key)}])" for key in keys[1:]]
    conditions += [f'kind == "{summary.kind}"'] if is_kind else []
    return Draft(on="state", name=keys[0], agent=agent, condition=_all(conditions), log=log)


def _all(conditions: list[str]) -> str:
    if len(conditions) < 2:
        return "".join(conditions)
    return " and ".join(f"({each})" if " or " in each else each for each in conditions)


def _tools_and_keys(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """Yield the tools and keys of an event: the value in the form, the kind of trait, the name."""
    for name in dict.fromkeys(call.name for call in summary.calls):
        yield f"tool:{name}", "tool", name
    for name in dict.fromkeys(response.name for response in summary.responses):
        yield f"result:{name}", "result of", name
    for key in summary.state_keys:
        yield f"key:{key}", "state key", key
