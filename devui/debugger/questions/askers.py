"""What needs the credential or the confirmation that an agent asks a person for.

Of a credential the framework's question says the id of the call alone (adk-runtime 8.6): a person
who is to type in a password has to know whose it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from devui.debugger.events.nodes import name_of
from devui.debugger.questions.questions import CREDENTIAL
from devui.store.journal import Journal
from devui.wire.events import Call, Event

_OF_TOOLSET: Final = "_adk_toolset_auth_"
"""Begins the id of a call that nobody made: a toolset needs it to list its tools."""
_OF_NODE: Final = "wf_auth:"
"""Begins that of a node of a workflow; its path follows."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose need it is, besides the agent's."""

    kind: Literal["tool", "toolset", "node"]
    name: str


async def askers_in(journal: Journal, session: int, events: Iterable[Event]) -> dict[str, Asker]:
    """What needs what the events ask for, by the ids of the calls that ask; none of most events."""
    calls = (call for event in events for call in event.calls)
    askers = {str(call.id): await _asker(journal, session, call) for call in calls}
    return {call: asker for call, asker in askers.items() if asker is not None}


async def _asker(journal: Journal, session: int, call: Call) -> Asker | None:
    if call.original:
        return Asker("tool", call.original.name)
    about = str(call.args.get("functionCallId") or "")
    if call.name != CREDENTIAL or not about:
        return None
    if about.startswith(_OF_TOOLSET):
        return Asker("toolset", about.removeprefix(_OF_TOOLSET))
    if about.startswith(_OF_NODE):
        return Asker("node", name_of(about.removeprefix(_OF_NODE)))
    for row, _ in await journal.events.asking(session, about):
        for each in row.summary.calls:
            if each.id == about:
                return Asker("tool", each.name)
    return None
