"""Makes the guard of a run that repeats earlier events, with what their tools returned."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from devui.debugger.guard.effects import marks_of, tool_effects
from devui.debugger.guard.guard import Guard, Policy
from devui.debugger.guard.recorded_calls import MOST, recorded_calls
from devui.store.journal import Journal
from devui.store.rows import NewEdit, SessionRow
from devui.wire.messages import AgentInfo


async def guard_over(
    journal: Journal,
    session: SessionRow,
    after: int,
    *,
    policy: Policy,
    agents: Iterable[AgentInfo] = (),
    until: int | None = None,
) -> Guard | None:
    """Return a guard with what tools returned in a session's events after `after`, up to `until`.

    None if there is nothing to ask about. `agents` are those of the loaded app; for a tool that
    they don't name, such as one of a toolset, its mark at the time of the call counts.
    """
    recorded = await recorded_calls(journal, session.key, after=after, until=until)
    marks = list(marks_of(agents))
    known_tools = {tool for tool, _ in marks}
    marks += [(call.tool, call.mark) for call in recorded if call.tool not in known_tools]
    effects = await tool_effects(journal, session.app, marks)
    guard = Guard(policy, effects, recorded)
    return guard if policy != "run" and guard.watches else None


async def guard_of_fork(
    journal: Journal, fork: SessionRow, *, policy: Policy, agents: Iterable[AgentInfo] = ()
) -> Guard | None:
    """Return the guard for the first run of a fork, over what its parent did after that point."""
    row = await journal.forks.get(fork.key)
    parent = await journal.sessions.get(row.parent) if row else None
    if row is None or parent is None or await journal.runs.newest(fork.key) is not None:
        return None
    return await guard_over(journal, parent, row.at, policy=policy, agents=agents)


async def effects_taken(journal: Journal, session: int, edit: NewEdit) -> Mapping[str, Any]:
    """Return the other effects of a recorded result that the guard gave in place of a call.

    The result is from the session that this one was forked from, or from a rewound part of it.
    """
    fork, row = await journal.forks.get(session), await journal.sessions.get(session)
    grounds = [(fork.parent, fork.at)] if fork else []
    grounds += [(session, max(0, row.events - MOST))] if row else []
    args, result = json.loads(edit.before).get("args") or {}, json.loads(edit.after)
    for ground, after in grounds:
        for call in await recorded_calls(journal, ground, after=after):
            if (call.tool, call.args, call.result) == (edit.tool, args, result):
                return call.effects
    return {}
