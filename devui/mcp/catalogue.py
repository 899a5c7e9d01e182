"""The tools, resources and prompts that are available to coding agents."""

import re
from collections.abc import Sequence
from typing import Final

from devui.client import Client
from devui.failures import NotFoundError
from devui.mcp.acting import Breakpoints, ControlRun, Fork, SendMessage
from devui.mcp.answers import as_json
from devui.mcp.checking import Compare, MakeTest, Replay, RunTests
from devui.mcp.reading import ListSessions, PromptAt, ShowEvent, StateAt, WhatHappened, WhyStuck
from devui.mcp.tool import Tool

TOOLS: Final[Sequence[type[Tool]]] = (
    ListSessions,
    WhatHappened,
    ShowEvent,
    StateAt,
    PromptAt,
    WhyStuck,
    SendMessage,
    ControlRun,
    Breakpoints,
    Fork,
    Replay,
    Compare,
    MakeTest,
)
"""The tools that need nothing but a server."""

LOCAL_TOOLS: Final[Sequence[type[Tool]]] = (*TOOLS, RunTests)
"""The tools of a process that runs in the folder of the agent's code."""

INSTRUCTIONS: Final = (
    "Debugger for agents built with ADK. A session is a list of events, numbered #1, #2…; a run"
    " answers one message. An agent yields an event, devui commits it, the agent goes on: a run can"
    " be held before any of it, changed there, forked and replayed. Begin with what_happened."
    " People see what you do, by your name. When you leave a run held, say so, or stop it."
)

SESSION: Final = "devui://sessions/{session}"
EVENT: Final = "devui://sessions/{session}/events/{event}"
_ADDRESS: Final = re.compile(r"devui://sessions/(\d+)(?:/events/(\d+))?")


def resource(client: Client, address: str) -> str:
    """Return the text of a resource: a session's runs and events, or an event as JSON.

    Raises NotFoundError.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise NotFoundError(f"no such resource: use {SESSION} or {EVENT}")
    session, event = match.groups()
    if event is None:
        return WhatHappened(session=int(session), limit=200).answer(client)
    return as_json(client.event(int(session), int(event)))


CAUSE: Final = "find_cause"
"""The prompt's name."""
CAUSE_ABOUT: Final = "Find the cause of this failure"


def cause(session: str, question: str) -> str:
    """Return instructions for finding the cause of a failure or wrong answer, as a user message."""
    where = f"session {session}" if session else "the most recently active session"
    asks = f"The user says: {question}\n\n" if question else ""
    return f"""{asks}Find the cause of what went wrong in {where}, with devui's tools.

1. Call what_happened. Read the error, its file:line and the events before it.
2. The line that raises is often not the cause. Take the wrong value and look where it comes from:
   state_at with key for who wrote it, prompt_at with diff for what a model was told,
   prompt_at for what a tool returned, show_event for what the model was told of it.
3. Name the event in which things first went wrong, and the code behind it. Read that code.
4. Check the idea before changing code: fork from the event before, with the value that you think
   is right, and see whether the run ends well.
5. Fix the code. Then fork from before the bad event with run, and make_test if it is worth keeping.

Answer with the event, the file and line, why it is wrong, and the evidence."""
