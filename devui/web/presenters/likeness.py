"""Break on events like one: what of it matters, and the breakpoint that this makes."""

import json
from collections.abc import Collection, Iterator
from typing import Final

from devui.debugger.breakpoints.breakpoints import Draft, When
from devui.debugger.summary import Kind, Summary
from devui.store.rows import EventRow
from devui.web.links import breakpoints_url, session_url
from devui.web.parts import every as parts
from devui.web.presenters.kinds import WORDS
from devui.web.text.visible import visible

LOG: Final = "{agent}: {text}"
"""What a logpoint says if nothing else is asked for."""
_IMPLIED: Final[frozenset[Kind]] = frozenset({"call", "result"})
"""Kinds that a breakpoint on a tool has in any case."""


def break_sheet(row: EventRow, summary: Summary, here: parts.BreaksHere) -> parts.BreakSheet:
    """The form, with the kind, the author and the tool taken, below what sits `here` already."""
    traits = [
        parts.Trait("kind", "kind", WORDS[summary.kind], taken=True),
        parts.Trait("agent", "author", visible(row.author), taken=True),
    ]
    for value, label, name in _named(summary):
        traits.append(parts.Trait(value, label, visible(name), taken=label != "state key"))
    return parts.BreakSheet(
        action=breakpoints_url(row.session),
        number=row.number,
        here=here,
        traits=tuple(traits),
        tab_href=session_url(row.session, event=row.number, tab="breaks"),
    )


def composed(
    row: EventRow, summary: Summary, taken: Collection[str], *, condition: str, log: str
) -> Draft:
    """A breakpoint on what has all that is taken, if the condition holds, too.

    What it is on is the rarest of them; the others are conditions of it.
    """
    named = [(label, name) for value, label, name in _named(summary) if value in taken]
    keys = [name for label, name in named if label == "state key"]
    tools = [(label, name) for label, name in named if label != "state key"]
    is_kind = "kind" in taken
    told = [condition] if condition else []
    agent = row.author if "agent" in taken else "*"
    if len(tools) == 1 and not keys and (not is_kind or summary.kind in _IMPLIED):
        label, name = tools[0]
        when: When = "after" if label == "result of" else "before"
        return Draft(on="tool", name=name, agent=agent, when=when, condition=_all(told), log=log)
    told += [f"{json.dumps(name, ensure_ascii=False)} in tools" for _, name in tools]
    if not keys:
        kind = summary.kind if is_kind else "*"
        return Draft(on="event", name=kind, agent=agent, condition=_all(told), log=log)
    told += [f"exists(delta[{json.dumps(key, ensure_ascii=False)}])" for key in keys[1:]]
    told += [f'kind == "{summary.kind}"'] if is_kind else []
    return Draft(on="state", name=keys[0], agent=agent, condition=_all(told), log=log)


def _all(conditions: list[str]) -> str:
    if len(conditions) < 2:
        return "".join(conditions)
    return " and ".join(f"({each})" if " or " in each else each for each in conditions)


def _named(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """What the event names: as the form sends it, what it is, the name."""
    for name in dict.fromkeys(call.name for call in summary.calls):
        yield f"tool:{name}", "tool", name
    for name in dict.fromkeys(response.name for response in summary.responses):
        yield f"result:{name}", "result of", name
    for key in summary.state_keys:
        yield f"key:{key}", "state key", key
