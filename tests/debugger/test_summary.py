"""Summaries of events, for each row of the events seed's catalogue."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from devui.debugger.events.nodes import name_of
from devui.debugger.events.preview import one_line, preview
from devui.debugger.events.summary import summarize
from devui.store.summaries import KINDS, Intervention, Kind, Summary
from devui.wire.events import Event


def parts(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"parts": list(parts)}


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": "adk-1", "name": name, "args": args}}


def response(name: str, value: Any, call: str = "adk-1") -> dict[str, Any]:
    return {"functionResponse": {"id": call, "name": name, "response": value}}


FLIGHT = "下周二预订去伦敦的航班"
CATALOGUE: list[tuple[str, dict[str, Any], bool, Kind, str]] = [
    (
        "user input",
        {"author": "user", "content": parts({"text": FLIGHT})},
        True,
        "user",
        FLIGHT,
    ),
    (
        "final text",
        {
            "author": "TravelAgent",
            "content": parts({"text": "请确认出发城市"}),
            "partial": False,
            "turnComplete": True,
        },
        True,
        "text",
        "请确认出发城市",
    ),
    (
        "streamed text",
        {"author": "SummaryAgent", "content": parts({"text": "三个要点"}), "partial": True},
        False,
        "text",
        "三个要点",
    ),
    (
        "tool call",
        {"author": "TravelAgent", "content": parts(call("find_airports", city="London"))},
        False,
        "call",
        'find_airports(city="London")',
    ),
    (
        "tool result",
        {
            "author": "TravelAgent",
            "content": parts(response("find_airports", {"result": ["LHR", "LGW", "STN"]})),
        },
        False,
        "result",
        'find_airports → ["LHR", "LGW", "STN"]',
    ),
    (
        "state and artifact update",
        {
            "author": "InternalUpdater",
            "actions": {
                "stateDelta": {"user_status": "verified"},
                "artifactDelta": {"verification_doc.pdf": 2},
            },
        },
        False,
        "state",
        'user_status = "verified"',
    ),
    (
        "artifact update",
        {"author": "InternalUpdater", "actions": {"artifactDelta": {"doc.pdf": 2}}},
        False,
        "artifact",
        "saved doc.pdf v2",
    ),
    (
        "transfer",
        {
            "author": "OrchestratorAgent",
            "content": parts(call("transfer_to_agent", agent_name="BillingAgent")),
            "actions": {"transferToAgent": "BillingAgent"},
        },
        False,
        "transfer",
        "→ BillingAgent",
    ),
    (
        "escalation",
        {
            "author": "CheckerAgent",
            "content": parts({"text": "已达到最大重试次数。"}),
            "actions": {"escalate": True},
        },
        False,
        "escalate",
        "已达到最大重试次数。",
    ),
    (
        "error",
        {
            "author": "LLMAgent",
            "errorCode": "SAFETY_FILTER_TRIGGERED",
            "errorMessage": "响应因安全设置被拦截",
        },
        True,
        "error",
        "SAFETY_FILTER_TRIGGERED: 响应因安全设置被拦截",
    ),
    (
        "code",
        {"author": "Coder", "content": parts({"executableCode": {"code": "print(1)"}})},
        False,
        "code",
        "print(1)",
    ),
    (
        "thought",
        {"author": "Thinker", "content": parts({"text": "Hm.", "thought": True})},
        True,
        "thought",
        "Hm.",
    ),
    (
        "question to a person",
        {
            "author": "FlightAgent",
            "content": parts(call("adk_request_confirmation")),
            "actions": {"requestedToolConfirmations": {"adk-1": {"hint": "Hold the seat?"}}},
            "longRunningToolIds": ["adk-1"],
        },
        True,
        "human",
        "asks for confirmation: Hold the seat?",
    ),
    ("tool that waits for consent", {"author": "A",
     "content": parts(response("pay", {"error": "waits"})),
     "actions": {"requestedToolConfirmations": {"adk-1": {"hint": "Pay?"}}}}, True,
     "result", "pay → waits for confirmation"),
    ("consent", {"author": "user", "content": parts(response("adk_request_confirmation",
     {"confirmed": True}))}, False, "result", "confirmed"),
    ("picture", {"author": "A", "content": parts({"inlineData": {"mimeType": "image/png"}})}, True,
     "text", "[image/png]"),
    ("saved state of an agent", {"author": "A", "actions": {"agentState": {"step": 1}}}, True,
     "checkpoint", "agent checkpoint"),
    ("end of an agent", {"author": "A", "actions": {"endOfAgent": True}}, True,
     "checkpoint", "end of agent"),
    ("output of a node", {"author": "wf", "output": {"n": [1]}}, True, "result", '{"n": [1]}'),
    ("route of a node", {"author": "wf", "actions": {"route": "yes"}}, True, "other",
     'route "yes"'),
    ("end of a node", {"author": "wf", "customMetadata": {"__adk_internal_node_ended": True}},
     True, "checkpoint", "end of node"),
    ("server-side call", {"author": "A", "content": parts(
        {"toolCall": {"toolType": "URL_CONTEXT", "args": {"n": 1}}, "thoughtSignature": "eA=="})},
     True, "other", 'tool call: toolType="URL_CONTEXT", args={"n": 1}'),
    ("server-side call with its result", {"author": "A", "content": parts(
        {"toolCall": {"id": "1"}}, {"toolResponse": {"id": "1", "response": {}}})},
     True, "other", 'tool call: id="1"; tool response: id="1", response={}'),
    ("voice activity", {"author": "A", "voiceActivity": {"voiceActivityType": "ACTIVITY_START"}},
     True, "other", 'voice activity: voiceActivityType="ACTIVITY_START"'),
    ("unknown part", {"author": "A", "content": parts({"futureKind": 7})}, True, "other",
     "future kind: 7"),
    ("nothing", {"author": "A"}, True, "other", "no content"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("event", "final", "kind", "text"),
    [row[1:] for row in CATALOGUE],
    ids=[r[0] for r in CATALOGUE],
)
def test_each_pattern_of_the_catalogue_has_its_kind_and_line(
    event: dict[str, Any], final: bool, kind: Kind, text: str
) -> None:
    summary = summarize(Event.of(event), final=final)
    assert (summary.kind, summary.text, summary.final) == (kind, text, final)


@pytest.mark.parametrize("row", CATALOGUE, ids=[row[0] for row in CATALOGUE])
def test_a_summary_round_trips_through_its_json(
    row: tuple[str, dict[str, Any], bool, Kind, str],
) -> None:
    summary = summarize(Event.of(row[1]), final=row[2])
    assert Summary.from_json(summary.to_json()) == summary


@pytest.mark.parametrize("row", CATALOGUE, ids=[row[0] for row in CATALOGUE])
def test_a_summary_in_the_old_longer_format_reads_the_same(
    row: tuple[str, dict[str, Any], bool, Kind, str],
) -> None:
    summary = summarize(Event.of(row[1]), final=row[2])
    before = {name: value for name, value in asdict(summary).items() if value or name == "text"}
    assert Summary.from_json(json.dumps(before)) == summary


def test_a_summary_does_not_repeat_the_text_of_a_call_or_result() -> None:
    returned = response("look_up", {"found": "much"})
    for content in (parts(call("look_up")), parts(returned)):
        event = Event.of({"author": "A", "content": content})
        text = summarize(event, final=False).to_json()
        assert text.count("look_up") == 1
        assert '"text"' not in text
        assert "false" not in text


def test_a_truncated_text_is_stored() -> None:
    long = parts(*(call("look_up_something_long") for _ in range(20)))
    summary = summarize(Event.of({"author": "A", "content": long}), final=False)
    assert summary.text.endswith("…")
    assert Summary.from_json(summary.to_json()) == summary


@pytest.mark.parametrize(
    ("author", "path", "name"),
    [
        ("wf", "wf@1/send@1", "send"),
        ("wf", "wf@1/send@2", "send@2"),
        ("wf", "wf@1/parent@1/below@1", "below"),
        ("writer", "wf@1/writer@1", ""),
        ("one", "wf@1/sequence@1", ""),
        ("root", "root@1", ""),
        ("root", "", ""),
    ],
)
def test_an_event_of_a_workflow_has_the_name_of_its_node(author: str, path: str, name: str) -> None:
    event = {"author": author, "nodeInfo": {"path": path}}
    node = summarize(Event.of(event), final=True).node
    assert (node, name_of(node)) == (path if name else "", name)


def test_every_kind_has_an_example() -> None:
    assert {row[3] for row in CATALOGUE} == set(KINDS)


def test_a_summary_has_state_artifacts_and_tokens_besides_the_content() -> None:
    delta = {f"user:key{n}": n for n in range(11)}
    summary = summarize(
        Event.of(
            {
                "author": "A",
                "content": parts({"text": "done"}),
                "actions": {"stateDelta": delta, "artifactDelta": {"a.txt": 0}},
                "usageMetadata": {"totalTokenCount": 42},
            }
        ),
        final=True,
    )
    assert summary.kind == "text"
    assert summary.state_count == 11
    assert summary.state_keys == tuple(delta)[:8]
    assert summary.artifacts == ("a.txt",)
    assert summary.tokens == 42


def test_only_the_long_running_call_of_an_event_is_marked() -> None:
    content = parts(call("wait"), {"functionCall": {"id": "adk-2", "name": "now", "args": {}}})
    summary = summarize(
        Event.of({"author": "A", "content": content, "longRunningToolIds": ["adk-1"]}), final=True
    )
    assert summary.long_running
    assert [c.long_running for c in summary.calls] == [True, False]


def test_a_persons_answer_to_a_tool_call_is_a_result() -> None:
    event = {"author": "user", "content": parts(response("approve", {"status": "yes"}))}
    assert summarize(Event.of(event), final=True).kind == "result"


def test_a_tool_that_returns_an_error_has_failed() -> None:
    event = {"author": "A", "content": parts(response("read", {"error": "disk full"}))}
    assert [r.failed for r in summarize(Event.of(event), final=False).responses] == [True]


def test_a_call_that_waits_for_confirmation_has_not_failed() -> None:
    answers = [response("pay", {"error": "waits"}, call=each) for each in ("asked", "broken")]
    waits = {"requestedToolConfirmations": {"asked": {"hint": "Pay?"}}}
    event = {"author": "A", "content": parts(*answers), "actions": waits}
    assert [r.failed for r in summarize(Event.of(event), final=False).responses] == [False, True]


@pytest.mark.parametrize(
    ("value", "actions", "waits_for", "is_refused"),
    [
        ({"error": "wait"}, {"requestedToolConfirmations": {"adk-1": {}}}, "confirmation", False),
        ({"error": "wait"}, {"requestedAuthConfigs": {"adk-1": {}}}, "sign_in", False),
        ({"error": "This tool call is rejected."}, {}, "", True),
        ({"result": "waits for confirmation"}, {}, "", False),
    ],
)
def test_placeholder_results_are_recognized_in_old_summaries(
    value: object, actions: dict[str, Any], waits_for: str, is_refused: bool
) -> None:
    event = {"author": "A", "content": parts(response("pay", value)), "actions": actions}
    summary = summarize(Event.of(event), final=True)
    before = json.loads(summary.to_json())
    for name in ("waits_for", "is_refused"):
        before["responses"][0].pop(name, None)
    for each in (summary, Summary.from_json(json.dumps(before))):
        [answer] = each.responses
        assert (answer.waits_for, answer.is_refused) == (waits_for, is_refused)


def test_the_text_is_one_line_of_at_most_two_hundred_characters() -> None:
    text = summarize(
        Event.of({"author": "A", "content": parts({"text": "a\nb " * 5000})}), final=True
    ).text
    assert len(text) == 200
    assert "\n" not in text
    assert text.endswith("…")


def test_a_summary_of_a_huge_value_is_small() -> None:
    event = {"author": "A", "content": parts(response("read", {"body": "x" * 2_000_000}))}
    assert len(summarize(Event.of(event), final=False).to_json()) < 1000


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"author": "A", "content": None, "actions": None},
        {"author": "A", "content": {"parts": None}},
        {"author": "A", "content": {"parts": [None, "text", {}]}},
        {"author": "A", "content": {"parts": [{"functionCall": None, "text": "x"}]}},
        {"author": "A", "content": {"parts": [{"functionResponse": {"name": "f"}}]}},
    ],
)
def test_malformed_events_have_a_summary(event: dict[str, Any]) -> None:
    assert Summary.from_json(summarize(Event.of(event), final=False).to_json()).kind in KINDS


def test_an_event_that_a_person_edited_is_marked() -> None:
    mark = {"edit": 1, "gate": "before_tool", "action": "mock", "by": "Ada"}
    event = {"author": "a", "customMetadata": {"devui_edited": [mark]}}
    summary = summarize(Event.of(event), final=True)
    assert summary.edited is True
    assert summary.edits == (Intervention("mock", "before_tool", "Ada"),)
    assert Summary.from_json(summary.to_json()) == summary
    assert (
        summarize(Event.of({"author": "a", "customMetadata": {"other": 1}}), final=True).edited
        is False
    )


def test_text_that_is_not_a_summary_is_refused() -> None:
    with pytest.raises(ValueError, match="not the summary"):
        Summary.from_json('{"kind": "text", "color": "red"}')


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": [1, True, None]}, '{"a": [1, true, null]}'),
        ("line\nbreak", '"line\\nbreak"'),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, …"),
    ],
)
def test_previews_are_compact_json(value: object, shown: str) -> None:
    assert preview(value, 22 if isinstance(value, dict) else 20) == shown


def test_one_line_is_truncated_at_its_limit() -> None:
    assert one_line("a  b\t\nc", 10) == "a b c"
    assert one_line("word " * 10, 12) == "word word w…"


def test_a_state_change_by_the_user_is_not_a_message() -> None:
    summary = summarize(
        Event.of({"author": "user", "actions": {"stateDelta": {"a": 1}}}), final=True
    )
    assert (summary.kind, summary.text) == ("state", "a = 1")


def test_a_rewind_has_a_summary() -> None:
    actions = {"stateDelta": {"a": None}, "rewindBeforeInvocationId": "e-1"}
    summary = summarize(Event.of({"author": "user", "actions": actions}), final=True)
    assert (summary.kind, summary.text) == ("user", "rewound the session")
