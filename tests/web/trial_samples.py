"""Trials of tools and models, for the template tests and the gallery."""

import json

from devui.debugger.guard.effects import ToolEffect
from devui.store.rows import Value
from devui.store.runs.trials import TrialRow
from devui.web.panels.trials.models import model_form, model_trial
from devui.web.panels.trials.parts import ToolList
from devui.web.panels.trials.tools import ToolDraft, tool_form, tool_item, tool_trial
from tests.web.request_samples import SPAN

_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "nights": {"type": "integer", "title": "Nights"}},
    "required": ["city"],
}
_DECLARED = {
    "agent": "BookingAgent",
    "name": "book_hotel",
    "description": "Books a <b>hotel</b>.\n\nArgs:\n    city: Where.",
    "schema": _SCHEMA,
    "returns": "dict",
    "is_long_running": True,
    "confirmation": "sometimes",
    "effect": "effects",
}
_EFFECT = ToolEffect("effects", "code")
_ASKED = ToolDraft(
    action="/sessions/7/events/8/calls/adk-3",
    declared=_DECLARED,
    effect=_EFFECT,
    event=8,
    has_session=True,
    args={"city": "London", "nights": 2},
)


def _trial(number: int, **changes: object) -> TrialRow:
    fields = {"span": None, "event": 8, "agent": "BookingAgent", "name": "book_hotel", **changes}
    sent = fields.pop("sent", '{"city": "London"}')
    return TrialRow(
        id=number, app="travel", session=7, sent=sent, actor="page", seconds=0.31, at=1e9, **fields
    )


_DONE = _trial(
    3,
    result=json.dumps(
        {
            "result": {"booked": "<b>Ritz</b>"},
            "actions": {"stateDelta": {"hotel": "Ritz"}, "escalate": True},
        }
    ),
)
_FAILED = _trial(2, error=json.dumps({"type": "ValueError", "message": "no room", "file": None}))
_STATE = [Value("session", "hotel", '"none"', 4, 2)]
TOOL = tool_form(_ASKED, [tool_trial(_DONE, _STATE), tool_trial(_FAILED, ())])
TOOLS = ToolList(
    (
        tool_item("travel", "book_hotel", [_DECLARED], _EFFECT),
        tool_item("travel", "gone", [], ToolEffect("read_only", "person", "ada")),
    )
)
_REQUEST = {
    "model": "scripted",
    "system": "Be <b>brief</b>.",
    "contents": [
        {"role": "user", "parts": [{"text": "Hello"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    ],
    "tools": None,
    "config": {"temperature": 0.5},
}
_ANSWERS = [[0.1, {"content": {"parts": [{"text": "Good day to you"}]}}]]
_AGAIN = _trial(
    5,
    span=1,
    sent=json.dumps({**_REQUEST, "system": "Be rude."}),
    result=json.dumps([{"content": {"parts": [{"text": "Good riddance to you"}]}}]),
)
MODEL = model_form(SPAN, _REQUEST, [model_trial(_AGAIN, _REQUEST, _ANSWERS)])
ALL = [TOOL, TOOLS, MODEL]
