"""Samples of what is held and of what is asked."""

from typing import Any

import pytest

from devui.debugger.summary import CallSummary
from devui.store.rows import Change
from devui.web import links
from devui.web.parts import every as parts
from devui.web.presenters.chat import ask_form
from devui.web.presenters.statepanel import changed_values, uncommitted_value
from devui.web.text.formats import moment
from devui.web.text.jsontext import json_text

KEY = 7
NOW = 1_795_226_531.532

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "adk_request_confirmation",
        {
            "originalFunctionCall": {"name": "pay", "args": {"amount": 5}},
            "toolConfirmation": {"hint": "Pay now?", "payload": {"amount": 5}},
        },
    ),
    (
        "adk_request_input",
        {
            "message": "Which seats?",
            "response_schema": {
                "type": "object",
                "properties": {
                    "seats": {"type": "integer", "default": 1, "description": "how many"},
                    "price": {"type": "number"},
                    "window": {"type": "boolean"},
                    "meal": {"enum": ["none", "vegan"]},
                    "name": {"type": "string"},
                    "other": {"type": "array"},
                },
                "required": ["seats"],
            },
        },
    ),
    ("adk_request_input", {"message": "What is your name?"}),
    ("get_user_choice", {"options": ["red", "blue"]}),
    (
        "adk_request_credential",
        {
            "authConfig": {
                "authScheme": {"type": "oauth2"},
                "exchangedAuthCredential": {"oauth2": {"authUri": "https://a.example/sign-in"}},
            }
        },
    ),
    ("adk_request_credential", {"authConfig": {"authScheme": {"type": "http"}}}),
)


def ask(name: str, **args: Any) -> parts.Ask:
    """The form of a question."""
    summary = CallSummary(id="adk-7", name=name, args="", long_running=True)
    who = "The tool search of FlightAgent"
    return ask_form(9, summary, args, KEY, who=who) or pytest.fail("it has no form")


REFUSED = parts.AskFields(
    "a-7", (parts.AskField("answer", "Answer", "json", "{nonsense", error="this is not JSON"),)
)
ASKED = (REFUSED, *(ask(name, **args) for name, args in QUESTIONS))
STEPS = parts.Debugger(
    action="/runs/run-1/commands",
    key="k1",
    position=7,
    buttons=(
        parts.CommandButton("continue", "Continue", "c", "Let the run go on (c)", primary=True),
        parts.CommandButton("step_event", "Step", "n", "To after the next commit (n)"),
    ),
    plan="to the next event",
    last="Step",
    actor="amber tab",
)
HELD = parts.Held(
    items=(
        parts.HeldItem(
            id=1,
            kind="text",
            shape="final",
            word="text",
            author="FlightAgent",
            text="I found three flights",
            sentence="Paused before the commit",
            stage="produced",
            since=moment(NOW),
            branch="",
            changes=changed_values(
                [Change("session", "city", '"Paris"', '"London"')], session=KEY, number=None
            ),
            held=json_text({"author": "FlightAgent"}),
            holding="event",
            edit=parts.HeldEdit(
                action="/runs/run-1/commands",
                key="k2",
                position=7,
                slot="json-1",
                field=parts.AskField("value", "As JSON", "json", '{"author": "FlightAgent"}'),
                choices=(parts.CommandButton("mock", "Answer with this", "", "No call is made"),),
                refusals=(
                    parts.CommandButton("drop", "Drop the event", "", "Not kept"),
                    parts.CommandButton("reject", "Reject the call", "", "The model is told why"),
                ),
                undo=parts.CommandButton("undo", "Undo", "", "Leave it as it was"),
                fields=parts.HeldFields(
                    action="/runs/run-1/commands",
                    key="k3",
                    position=7,
                    hold=1,
                    slot="held-1",
                    title="What it writes to the state",
                    fields=(
                        parts.AskField("of.city", "city", "json", '"London"', error="no JSON"),
                        parts.AskField("new.key", "another key", "text"),
                    ),
                ),
                note="It will be edited when the run goes on (page).",
                diff=("-  a", "+  b", "   c"),
            ),
            guard=parts.GuardNote(
                text="This tool has effects, and it has run before.",
                result='{"result": "<b>paid</b>"}',
                label="#5 of the parent",
                href="/sessions/3?event=5",
                command="undo",
            ),
            breakpoint="Breakpoint 3: text event of FlightAgent",
            breakpoint_href=links.session_url(KEY, tab="breaks"),
        ),
    ),
    beside=(
        parts.Beside("running", "runs", "HotelAgent", "find", "agent.py:3 in find", moment(NOW)),
    ),
)
EDITS = parts.EventEdits(
    "Ada edited the tool's arguments",
    (
        parts.EditShown(
            number=12,
            word="edited",
            sentence="Ada edited the tool's arguments",
            moment=moment(NOW),
            original=json_text({"city": "London"}),
            given=json_text({"city": "Paris"}),
            diff=('-  "city": "London"', '+  "city": "Paris"'),
        ),
    ),
)
DROPPED = parts.DroppedRow(
    edit=13,
    text="Ada dropped an event of planner",
    moment=moment(NOW),
    original=json_text({"author": "planner"}),
)
NOTES = parts.EventNotes(
    (
        parts.NoteShown(
            "dirty",
            "dirty read",
            "of plan, written by planner at app/agent.py:8 in plan",
            fate="committed as #3",
            href=links.session_url(KEY, event=3),
            place="read by critic at app/agent.py:19 in check",
        ),
        parts.NoteShown("overlap", "last writer wins", "city was written by other, too"),
    )
)
OF_EVENTS = (EDITS, DROPPED, NOTES)
PENDING = tuple(
    parts.PendingGroup(
        "planner",
        f"{fate} from planner: 1 key",
        (
            uncommitted_value(
                Change("session", "plan", '{"steps": 2}', '{"steps": 3}'),
                number=1,
                note="app/agent.py:8 in plan; read by critic",
            ),
        ),
        lost=fate == "lost",
    )
    for fate in ("pending", "lost")
)
RESUME = parts.Resume(
    title="Interrupted: the server went away",
    text="Committed up to a call of FlightAgent.",
    href=links.session_url(KEY, event=3),
    label="#3",
    action=links.runs_url(KEY),
    invocation="e-90b4d511",
    fork_action=links.forks_url(KEY),
    number=3,
    close_action=links.close_url(KEY),
    lost=(
        ("Lost before its commit, text by FlightAgent:", "I found three flights"),
        ("find_flights was not called.", ""),
    ),
    streamed=("The cheapest of them leaves at",),
    unknown=(
        parts.UnknownAsk(
            id="call-1",
            slot="u-1",
            tool="book_flight",
            args='code="LX 316"',
            href=links.session_url(KEY, event=3),
            note="nobody knows whether it was carried out",
            default="fail",
        ),
    ),
)
