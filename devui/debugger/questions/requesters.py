"""What needs the credential or confirmation that an agent asks a person for.

For a credential, the framework's question has only the id of the call (adk-runtime 8.6), but a
person who enters a password has to know who needs it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from devui.debugger.events.nodes import name_of
from devui.debugger.questions.questions import CONFIRMATION, CREDENTIAL
from devui.store.journal import Journal
from devui.wire.events import USER, Call, Event

_OF_TOOLSET: Final = "_adk_toolset_auth_"
"""The prefix of ids that stand for a toolset, which needs the credential to list its tools."""
_OF_NODE: Final = "wf_auth:"
"""The prefix of ids that stand for a workflow node, followed by its path."""


@dataclass(frozen=True, slots=True)
class Requester:
    """The part of an agent that needs the credential or confirmation."""

    kind: Literal["tool", "toolset", "node"]
    name: str


async def askers_in(
    journal: Journal, session: int, events: Iterable[Event]
) -> dict[str, Requester]:
    """Return what needs the credentials and confirmations in these events, by the ids of the calls
    that ask for them. Most events have none."""
    every = [*events]
    calls = {str(call.id): call for event in every for call in event.calls}
    answers = (each for event in every if event.author == USER for each in event.responses)
    for answer in answers:
        if answer.name in {CONFIRMATION, CREDENTIAL} and answer.id and answer.id not in calls:
            call = await _call_by_id(journal, session, answer.id)
            calls |= {answer.id: call} if call else {}
    askers = {name: await _asker(journal, session, call) for name, call in calls.items()}
    return {call: asker for call, asker in askers.items() if asker is not None}


async def _call_by_id(journal: Journal, session: int, call_id: str) -> Call | None:
    """Return the newest call with this id."""
    rows = [row for row, _ in await journal.events.asking(session, call_id)]
    body = await journal.events.body(session, rows[-1].number) if rows else None
    return next((call for call in (body[1].calls if body else ()) if call.id == call_id), None)


async def _asker(journal: Journal, session: int, call: Call) -> Requester | None:
    if call.original:
        return Requester("tool", call.original.name)
    about = str(call.args.get("functionCallId") or "")
    if call.name != CREDENTIAL or not about:
        return None
    if about.startswith(_OF_TOOLSET):
        return Requester("toolset", about.removeprefix(_OF_TOOLSET))
    if about.startswith(_OF_NODE):
        return Requester("node", name_of(about.removeprefix(_OF_NODE)))
    for row, _ in await journal.events.asking(session, about):
        for each in row.summary.calls:
            if each.id == about:
                return Requester("tool", each.name)
    return None
