"""Samples of what is held and of what is asked."""

from typing import Any

import pytest

from devui.debugger.summary import CallSummary
from devui.store.rows import Change
from devui.web import links, parts
from devui.web.chat import ask_form
from devui.web.jsontext import json_text
from devui.web.moments import moment
from devui.web.statepanel import changed_values

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
    return ask_form(9, summary, args, KEY) or pytest.fail("it has no form")


STEPS = parts.Debugger(
    action="/runs/run-1/commands",
    key="k1",
    position=7,
    buttons=(
        parts.CommandButton("continue", "Continue", "c", "Let the run go on (c)", primary=True),
        parts.CommandButton("step_event", "Step", "n", "To after the next commit (n)"),
    ),
    plan="to the next event",
    last="step event by page",
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
                value='{"author": "FlightAgent"}',
                choices=(parts.CommandButton("drop", "Drop the event", "", "Not kept"),),
                note="It will be edited when the run goes on (page).",
                diff=("-  a", "+  b", "   c"),
            ),
            breakpoint="Breakpoint 3: text event of FlightAgent",
            breakpoint_href=links.session_url(KEY, tab="breaks"),
        ),
    ),
    others="1 other answer is still streaming",
)
RESUME = parts.Resume(
    text="This invocation was interrupted.",
    action=links.runs_url(KEY),
    invocation="e-90b4d511",
    lost=("Paused before the commit: I found three flights",),
)
