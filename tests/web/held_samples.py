"""Samples of held items, questions, edits, and runs that ended early."""

from dataclasses import replace
from typing import Any

import pytest

from devui.store.rows import Change
from devui.store.summaries import CallSummary
from devui.web import links
from devui.web.basic_parts import BranchItem
from devui.web.panels.chat.chat import ask_form
from devui.web.panels.hold.parts import (
    CommandButton,
    Debugger,
    GuardNote,
    HeldEdit,
    HeldFields,
    HeldItem,
    HeldMock,
    HeldRows,
)
from devui.web.panels.inspector.mark_parts import EditItem, EventEdits, EventNotes, StateNoteItem
from devui.web.panels.inspector.parts import PendingGroup
from devui.web.panels.questions.parts import Ask, QuestionField, QuestionFields
from devui.web.panels.recovery.parts import MissingKey, Resume, UnknownCallForm
from devui.web.panels.state.panel import changed_values, uncommitted_value
from devui.web.panels.timeline.parts import DroppedRow
from devui.web.text.formats import moment
from devui.web.text.jsontree import json_text

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


def ask(name: str, **args: Any) -> Ask:
    """Return the form of a question."""
    summary = CallSummary(id="adk-7", name=name, args="", long_running=True)
    who = "The tool search of FlightAgent"
    return ask_form(9, summary, args, KEY, who=who) or pytest.fail("it has no form")


REFUSED = QuestionFields(
    "a-7", (QuestionField("answer", "Answer", "json", "{nonsense", error="invalid JSON"),)
)
ASKED = (REFUSED, *(ask(name, **args) for name, args in QUESTIONS))
STEPS = Debugger(
    action="/runs/run-1/commands",
    key="k1",
    position=7,
    buttons=(
        CommandButton("continue", "Continue", "c", "Let the run go on (c)", primary=True),
        CommandButton("step_event", "Step", "n", "To after the next commit (n)"),
    ),
    plan="running through the next commit",
    deed="Stepped",
    actor="amber tab",
)
HELD = HeldRows(
    items=(
        HeldItem(
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
            value=json_text({"author": "FlightAgent"}),
            holding="event",
            edit=HeldEdit(
                action="/runs/run-1/commands",
                key="k2",
                position=7,
                slot="json-1",
                field=QuestionField("value", "As JSON", "json", '{"author": "FlightAgent"}'),
                mock=HeldMock(
                    "result",
                    "mock-1",
                    QuestionField(
                        "value", "Result", "json", "{", hint="JSON or text", error="no JSON"
                    ),
                ),
                refusals=(
                    CommandButton("drop", "Drop the event", "", "Not kept"),
                    CommandButton(
                        "reject",
                        "Reject the call",
                        "",
                        "Don't make the call, and tell the model why",
                    ),
                ),
                undo=CommandButton("undo", "Undo", "", "Restore the original"),
                fields=HeldFields(
                    action="/runs/run-1/commands",
                    key="k3",
                    position=7,
                    hold=1,
                    slot="held-1",
                    title="State changes",
                    fields=(
                        QuestionField(
                            "of.city",
                            "city",
                            "json",
                            '"L"',
                            error="no JSON",
                            type="JSON list of str",
                        ),
                        QuestionField("new.key", "new key", "text"),
                    ),
                ),
                note="ada edited this. This takes effect when the run continues.",
                diff=("-  a", "+  b", "   c"),
            ),
            guard=GuardNote(
                text="This tool has side effects. It already ran with these arguments:",
                result='{"result": "<b>paid</b>"}',
                label="#5 in the parent session",
                href="/sessions/3?event=5",
                choice="recorded",
                outcome="The recorded result will be used.",
            ),
            breakpoint="Breakpoint 3: text event of FlightAgent",
            breakpoint_href=links.session_url(KEY, tab="breaks"),
        ),
    ),
    beside=(
        BranchItem("running", "runs", "HotelAgent", "find", "agent.py:3 in find", moment(NOW)),
    ),
)
EDITS = EventEdits(
    "Ada edited the tool's arguments",
    (
        EditItem(
            number=12,
            word="edited",
            sentence="Ada edited the tool's arguments",
            moment=moment(NOW),
            original=json_text({"city": "London"}),
            replacement=json_text({"city": "Paris"}),
            diff=('-  "city": "London"', '+  "city": "Paris"'),
        ),
    ),
)
DROPPED = DroppedRow(
    edit=13,
    text="Ada dropped an event of planner",
    moment=moment(NOW),
    original=json_text({"author": "planner"}),
)
NOTES = EventNotes(
    (
        StateNoteItem(
            "dirty",
            "dirty read",
            "of plan, written by planner at app/agent.py:8 in plan",
            outcome="committed as #3",
            href=links.session_url(KEY, event=3),
            place="read by critic",
            code="app/agent.py:19 in check",
        ),
        StateNoteItem("overlap", "parallel write", "city was written by other, too"),
    )
)
OF_EVENTS = (EDITS, DROPPED, NOTES)
PENDING = tuple(
    PendingGroup(
        "planner",
        label,
        (
            uncommitted_value(
                Change("session", "plan", '{"steps": 2}', '{"steps": 3}'),
                number=1,
                note="read by critic",
                place="app/agent.py:8 in plan",
            ),
        ),
        is_lost=outcome == "lost",
    )
    for outcome, label in (
        ("pending", "pending from planner: 1 key"),
        ("lost", "Lost: 1 key written by planner."),
    )
)
RESUME = Resume(
    title="Interrupted when the server stopped,",
    text="after",
    href=links.session_url(KEY, event=3),
    label="#3",
    action=links.runs_url(KEY),
    invocation="e-90b4d511",
    fork_action=links.forks_url(KEY),
    number=3,
    resend_action=links.rewind_url(KEY),
    message=1,
    close_action=links.close_url(KEY),
    losses=(
        ("Lost before it was committed, text by FlightAgent:", "I found three flights"),
        ("find_flights wasn't called.", ""),
    ),
    streamed=("The cheapest of them leaves at",),
    unknown=(
        UnknownCallForm(
            id="call-1",
            slot="u-1",
            tool="book_flight",
            args='code="LX 316"',
            href=links.session_url(KEY, event=3),
            edit_href=links.fork_here_url(KEY, 3, edit=True),
            note="it may or may not have taken effect",
            default="fail",
        ),
    ),
)
_NOT_RESUMABLE = replace(
    RESUME,
    title="Failed",
    mark="error",
    losses=(),
    streamed=(),
    unknown=(replace(RESUME.unknown[0], verb="raised ConnectionError", note=""),),
    stays="This app can't resume a run where it ended.",
)
RESENT = (
    _NOT_RESUMABLE,
    replace(_NOT_RESUMABLE, new_keys="turns, plan"),
    *(
        replace(
            _NOT_RESUMABLE,
            unknown=(),
            key=MissingKey(
                is_refused=is_refused,
                variable="GOOGLE_API_KEY",
                file="agents/travel/.env",
                is_google=True,
                is_hosted=is_hosted,
            ),
        )
        for is_refused, is_hosted in ((False, False), (True, False), (False, True))
    ),
)
"""Runs that cannot be resumed, and what they offer instead."""
