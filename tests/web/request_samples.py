"""Requests to models and tools as the session page shows them, for the template tests."""

import json

from devui.debugger.events.spans import Piece, SentRequest
from devui.store.rows import SpanRow
from devui.web import links
from devui.web.basic_parts import Fact
from devui.web.page_query import TRACE
from devui.web.panels.inspector.parts import TabAsk
from devui.web.panels.request.parts import (
    Block,
    DiffBlock,
    DiffForm,
    ModelAnswer,
    OtherCall,
    RawRequest,
    RequestPanel,
    Share,
    ShareBar,
    StreamChart,
    StreamedPiece,
    ToolCallItem,
    ToolCallsPanel,
)
from devui.web.panels.request.prompt_diff import as_text, body_of, prompt_diff, tool_shown
from devui.web.panels.trace.parts import (
    RunHeading,
    SpanBar,
    TimeTick,
    TracePanel,
    ViewLink,
    ViewSwitch,
)
from devui.web.text.formats import moment
from devui.web.text.jsontree import json_text, json_tree
from tests.web.travel_samples import KEY

SCHEMA = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}
DATA = {"inlineData": {"mimeType": "image/png", "data": "AAAA" * 300}}


def piece(value: object) -> Piece:
    text = json.dumps(value)
    return Piece(text, text)


def message(role: str, *parts: object) -> Piece:
    return piece({"role": role, "parts": list(parts)})


def request(system: str, *contents: Piece, temperature: float = 0.1) -> SentRequest:
    tools = piece([{"functionDeclarations": [{"name": "weather", "parameters": SCHEMA}]}])
    config = piece({"temperature": temperature})
    return SentRequest("gemini", True, piece(system), tools, config, contents)


FIRST = message("user", {"text": "How is it in Oslo?"}, DATA)
SKY = message("user", {"functionResponse": {"name": "weather", "response": {"sky": "clear"}}})
BEFORE = request("Be kind to all.", FIRST)
AFTER = request("Be stern to all.", FIRST, message("model", {"text": "Fine."}), temperature=0.5)
SPAN = SpanRow(4, KEY, "run-1", 2, 1, "model", "gemini", "teller", None, None, 4, 0.0, 1.0, 0.5, "")


def block(position: int, value: object, *, at_once: bool = True, kind: str = "user") -> Block:
    return Block(
        dom_id=f"block-{SPAN.id}-{position}",
        kind=kind if position else "system",
        role="user" if position else "system",
        place=f"#{position}" if position else "",
        preview=as_text(value)[:40],
        size="18 chars · ≈5 tokens",
        body=body_of(value) if at_once else None,
        href="" if at_once else links.block_url(KEY, SPAN.id, position),
        open=at_once,
    )


PANEL = RequestPanel(
    model="gemini",
    agent="teller",
    note="As sent by the runtime, after all callbacks.",
    facts=(Fact("prompt tokens", "400", hint="300 of them cached"),),
    error="ValueError: it sank",
    form=DiffForm(
        links.session_url(KEY),
        4,
        (OtherCall("", "nothing", False), OtherCall("0", "previous call", True)),
    ),
    diff=prompt_diff(SPAN, BEFORE, AFTER),
    bar=ShareBar(
        (
            Share("system", 0, 400, "system: 40 %"),
            Share("user", 400, 300, "user"),
            Share("result", 700, 300, "result #2"),
        ),
        "400 prompt tokens; shares are estimated",
        kinds=(("system", "system"), ("user", "user"), ("result", "tool results")),
        cached=300,
    ),
    system=block(0, "Be stern to all.", at_once=False),
    messages=(block(1, json.loads(FIRST.text)), block(2, json.loads(SKY.text), kind="result")),
    tools=(tool_shown("tool-4-0", ("weather", "The weather.", SCHEMA)),),
    config=json_tree({"temperature": 0.5}),
    answer=ModelAnswer(
        (body_of({"role": "model", "parts": [{"text": "It is sunny."}]}),),
        DiffBlock("changed", "model's answer → event #4", (("removed", "sunny"), ("added", "s"))),
        "A callback, plugin, or planner changed this answer.",
    ),
    streamed=StreamChart(
        (StreamedPiece("It is ", "1 ms", 1.0), StreamedPiece("sunny.", "2.0 s", 1000.0)),
        "M1 3v14",
        ((1, 9),),
        "2 pieces",
        True,
    ),
    raw_href=links.raw_request_url(KEY, SPAN.id),
    json_href=links.span_api_url(KEY, SPAN.id),
    again_href="/sessions/3/spans/4/again",
    trial_note="asked 2 times",
)
TOOLS = ToolCallsPanel(
    3,
    (
        ToolCallItem(
            "weather",
            "c1",
            "1.2 s",
            json_tree({"city": "Oslo"}),
            json_tree([*range(1200)]),
            "",
            result_size="5.9 kB · array of 1,200 items",
        ),
        ToolCallItem("weather", "c2", "", None, None, "ValueError: it sank"),
    ),
)
BAR = SpanBar(
    dom_id="span-4",
    type="model",
    icon="thought",
    name="gemini",
    aside="teller",
    level=2,
    href=links.session_url(KEY, event=4, view=TRACE),
    x=10,
    width=300.5,
    first=100,
    duration="1.0 s",
    title="model gemini, 1.0 s",
    error="ValueError: it sank",
    going=False,
    is_selected=True,
)
WATERFALL = TracePanel(
    href=links.trace_url(KEY),
    event=4,
    heading=RunHeading(
        title="How is the weather?",
        began=moment(1_790_000_000.25),
        place="2 of 3",
        previous_href=links.session_url(KEY, event=1, view=TRACE),
        next_href=links.session_url(KEY, event=9, view=TRACE),
    ),
    duration="2.00 s",
    held_note="not counting 0.20 s paused",
    going=True,
    bars=(BAR,),
    ticks=(TimeTick(25.0, "500 ms"), TimeTick(100.0, "2 s")),
    lines="M250 0v10M1000 0v10",
    holds="M300 0h100v10h-100z",
    more="3 more spans in the export",
    export_href=links.trace_api_url(KEY, "run-1"),
)
EVENTS = ViewSwitch(
    (
        ViewLink("events", "Events", links.session_url(KEY), current=True),
        ViewLink("trace", "Trace", links.session_url(KEY, view=TRACE), current=False),
    ),
    None,
)
SPANS = ViewSwitch(
    (
        ViewLink("events", "Events", links.session_url(KEY, event=4), current=False),
        ViewLink("trace", "Trace", links.session_url(KEY, event=4, view=TRACE), current=True),
    ),
    TRACE,
)
ALL = (
    EVENTS,
    SPANS,
    WATERFALL,
    TabAsk("trace", links.trace_url(KEY)),
    PANEL,
    PANEL.messages[0].body,
    RawRequest(json_text(BEFORE.as_json())),
    TOOLS,
)
