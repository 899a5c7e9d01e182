"""Events: fields, JSON, finality (events seed; adk-runtime 1)."""

import json
from types import MappingProxyType

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from devui.runtime.events import Event, EventActions
from devui.runtime.events.event import NodeInfo
from devui.runtime.events.event_actions import EventCompaction, ToolConfirmation, UiWidget
from devui.runtime.events.rewinds import live_events
from devui.runtime.platform.time import reset_time_provider, set_time_provider
from devui.runtime.platform.uuid import reset_id_provider, set_id_provider


def text(value: str) -> types.Content:
    return types.Content(role="model", parts=[types.Part(text=value)])


def call(name: str = "f", call_id: str | None = "c1") -> types.Content:
    return types.Content(
        role="model",
        parts=[types.Part(function_call=types.FunctionCall(id=call_id, name=name, args={}))],
    )


def nested(levels: int) -> list:
    value: list = []
    for _ in range(levels - 1):
        value = [value]
    return value


def response(name: str = "f", call_id: str = "c1") -> types.Content:
    part = types.Part(
        function_response=types.FunctionResponse(id=call_id, name=name, response={"result": 1})
    )
    return types.Content(role="user", parts=[part])


def wire(event: Event) -> dict:
    return json.loads(event.model_dump_json(by_alias=True, exclude_none=True))


def test_a_new_event_gets_an_id_and_a_timestamp():
    set_id_provider(lambda: "id-1")
    set_time_provider(lambda: 12.5)
    event = Event()
    reset_id_provider()
    reset_time_provider()
    assert (event.id, event.timestamp) == ("id-1", 12.5)
    assert Event().id != Event().id


def test_the_smallest_event_on_the_wire_has_all_its_fixed_keys():
    assert wire(Event(id="i", timestamp=1.5)) == {
        "invocationId": "",
        "author": "",
        "actions": {
            "stateDelta": {},
            "artifactDelta": {},
            "requestedAuthConfigs": {},
            "requestedToolConfirmations": {},
        },
        "nodeInfo": {"path": ""},
        "id": "i",
        "timestamp": 1.5,
    }


def test_keys_are_in_the_order_of_the_fields():
    keys = list(json.loads(Event().model_dump_json(by_alias=True)))
    assert keys[:3] == ["modelVersion", "content", "groundingMetadata"]
    assert keys[-10:] == [
        "invocationId",
        "author",
        "actions",
        "output",
        "nodeInfo",
        "longRunningToolIds",
        "branch",
        "isolationScope",
        "id",
        "timestamp",
    ]


def test_long_running_ids_are_a_sorted_list_even_when_empty():
    assert wire(Event(long_running_tool_ids={"b", "c", "a"}))["longRunningToolIds"] == [
        "a",
        "b",
        "c",
    ]
    assert wire(Event(long_running_tool_ids=set()))["longRunningToolIds"] == []


def test_bytes_are_url_safe_base64_both_ways():
    blob = types.Blob(data=b"\xff\xfe\xfb", mime_type="a/b")
    event = Event(content=types.Content(parts=[types.Part(inline_data=blob)]))
    data = wire(event)["content"]["parts"][0]["inlineData"]["data"]
    assert data == "__77"
    again = Event.model_validate_json(event.model_dump_json(by_alias=True))
    assert again.content.parts[0].inline_data.data == b"\xff\xfe\xfb"


def test_unknown_fields_are_ignored_in_events_and_refused_in_actions():
    assert Event.model_validate({"author": "a", "fromTheFuture": 1}).author == "a"
    with pytest.raises(ValidationError):
        EventActions.model_validate({"fromTheFuture": 1})


def test_shorthands_fill_the_fields_they_stand_for():
    event = Event(message="hi", state={"k": 1}, route="left", node_path="wf@1/writer@2")
    assert event.content == types.Content(role="user", parts=[types.Part(text="hi")])
    assert event.message is event.content
    assert event.actions.state_delta == {"k": 1}
    assert event.actions.route == "left"
    assert event.node_info.path == "wf@1/writer@2"


def test_shorthands_keep_other_given_values():
    event = Event(actions=EventActions(escalate=True), state={"k": 1})
    assert event.actions.escalate
    assert event.actions.state_delta == {"k": 1}


def test_message_and_content_exclude_each_other():
    with pytest.raises(ValidationError, match="not both"):
        Event(message="a", content=text("b"))


def test_a_message_may_be_a_part_or_a_content():
    assert Event(message=types.Part(text="p")).content.role == "user"
    assert Event(message=call().parts[0]).content.role == "model"
    assert Event(message=text("c")).content.role == "model"
    assert Event(message={"text": "d"}).content.parts[0].text == "d"


@pytest.mark.parametrize(
    ("event", "final"),
    [
        (Event(content=text("done")), True),
        (Event(content=text("do"), partial=True), False),
        (Event(content=call()), False),
        (Event(content=call(), long_running_tool_ids=set()), False),
        (Event(content=call(), long_running_tool_ids={"c1"}), True),
        (Event(content=response()), False),
        (Event(content=response(), actions=EventActions(skip_summarization=True)), True),
        (Event(content=call(), error_code="X"), False),
        (Event(content=response(), error_code="X"), True),
        (Event(error_code="X", partial=True), False),
        (Event(error_code="SAFETY"), True),
        (Event(state={"k": 1}), True),
        (Event(actions=EventActions(transfer_to_agent="b")), True),
        (Event(actions=EventActions(escalate=True)), True),
        (
            Event(
                content=types.Content(
                    parts=[
                        types.Part(
                            code_execution_result=types.CodeExecutionResult(
                                outcome="OUTCOME_OK", output="1"
                            )
                        )
                    ]
                )
            ),
            False,
        ),
    ],
)
def test_finality_follows_the_events_seed(event: Event, final: bool):
    assert event.is_final_response() is final


def test_calls_and_responses_are_in_the_order_of_parts():
    parts = [*call("a", "1").parts, *response("x").parts, *call("b", "2").parts]
    event = Event(content=types.Content(parts=parts))
    assert [c.name for c in event.get_function_calls()] == ["a", "b"]
    assert [r.name for r in event.get_function_responses()] == ["x"]
    assert Event().get_function_calls() == []


@pytest.mark.parametrize(
    ("path", "name", "run", "parent_run"),
    [
        ("", "", "", None),
        ("wf", "wf", "", None),
        ("wf@1", "wf", "1", None),
        ("wf@1/writer@2", "writer", "2", "1"),
        ("wf/writer", "writer", "", None),
    ],
)
def test_a_node_path_contains_the_name_and_runs(
    path: str, name: str, run: str, parent_run: str | None
):
    info = NodeInfo(path=path)
    assert (info.name, info.run_id, info.parent_run_id) == (name, run, parent_run)


def test_checkpoints_have_no_node_name():
    assert Event(node_path="wf@1").node_name == "wf"
    assert Event(node_path="wf@1", actions=EventActions(end_of_agent=True)).node_name == ""


def test_a_value_without_json_form_is_written_as_its_repr(caplog):
    event = Event(state={"good": [1], "odd": object})
    assert wire(event)["actions"]["stateDelta"] == {"good": [1], "odd": "<class 'object'>"}
    assert "not JSON-serializable" in caplog.text


def test_a_value_that_is_nested_too_deeply_does_not_affect_others():
    circle: list = []
    circle.append(circle)
    state = {"good": [1], "deep": nested(300), "deeper": nested(5000), "circle": circle}
    delta = wire(Event(state=state))["actions"]["stateDelta"]
    assert delta["good"] == [1]
    assert json.dumps(delta["deep"]) == 50 * "[" + f'"{nested(250)!r}"' + 50 * "]"
    assert json.dumps(delta["deeper"]) == 50 * "[" + '"<list that is nested too deeply>"' + 50 * "]"
    assert delta["circle"] == ["[[...]]"]


def test_all_actions_survive_the_wire():
    actions = EventActions(
        artifact_delta={"a.txt": 2},
        requested_auth_configs={
            "c1": {"authScheme": {"type": "apiKey", "in": "header", "name": "k"}}
        },
        requested_tool_confirmations={"c2": ToolConfirmation(hint="sure?", payload={"n": 1})},
        compaction=EventCompaction(
            start_timestamp=1.0, end_timestamp=2.0, compacted_content=text("sum")
        ),
        agent_state={"current_sub_agent": "a"},
        render_ui_widgets=[UiWidget(id="1", provider="mcp")],
        route=["a", 1, True],
    )
    json_text = actions.model_dump_json(by_alias=True, exclude_none=True)
    assert EventActions.model_validate_json(json_text) == actions
    assert '"agentState":{"current_sub_agent":"a"}' in json_text


def test_a_wrapped_confirmation_is_unwrapped():
    wrapped = {"response": '{"confirmed": true, "payload": 3}'}
    assert ToolConfirmation.from_response_dict(wrapped) == ToolConfirmation(
        confirmed=True, payload=3
    )
    assert ToolConfirmation.from_response_dict({"confirmed": True}).confirmed


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    author=st.text(),
    branch=st.none() | st.text(),
    state=st.dictionaries(st.text(), plain, max_size=4),
    words=st.none() | st.text(),
    partial=st.none() | st.booleans(),
    ids=st.none() | st.sets(st.text(), max_size=4),
    timestamp=st.floats(allow_nan=False, allow_infinity=False),
)
def test_an_event_survives_the_wire(author, branch, state, words, partial, ids, timestamp):
    event = Event(
        author=author,
        branch=branch,
        state=state,
        content=None if words is None else text(words),
        partial=partial,
        long_running_tool_ids=ids,
        timestamp=timestamp,
    )
    wire_text = event.model_dump_json(by_alias=True, exclude_none=True)
    again = Event.model_validate_json(wire_text)
    assert again == event
    assert again.model_dump_json(by_alias=True, exclude_none=True) == wire_text


def rewind(invocation_id: str) -> Event:
    return Event(invocation_id="r", actions=EventActions(rewind_before_invocation_id=invocation_id))


def test_a_rewind_removes_its_invocation_and_all_later_events():
    history = [Event(invocation_id=i) for i in ("one", "two", "two", "three")]
    assert live_events([*history, rewind("two")]) == history[:1]
    assert live_events([*history, rewind("unknown")]) == history
    after = Event(invocation_id="four")
    assert live_events([*history, rewind("two"), after, rewind("one")]) == []
    assert live_events(history) is history


def test_a_mapping_as_delta_becomes_a_dict():
    actions = EventActions()
    actions.state_delta = MappingProxyType({"a": 1})
    assert type(actions.state_delta) is dict
    assert actions.state_delta == {"a": 1}


def test_text_in_place_of_content_is_refused_with_advice():
    with pytest.raises(ValueError, match=r"types\.Content\(role=\"model\".*`message="):
        Event(author="agent", content="Hello")


@pytest.mark.parametrize(("value", "flag"), [(1, True), (0, False), ([], False), (None, None)])
def test_a_flag_accepts_any_truthy_or_falsy_value(value, flag):
    actions = EventActions()
    actions.escalate = value
    assert actions.escalate is flag
    assert EventActions.model_validate_json(actions.model_dump_json()) == actions


@pytest.mark.filterwarnings("ignore:Field name")
def test_a_field_of_a_subclass_overrides_a_property_of_that_name():
    class Mine(Event):
        message: str = ""
        node_name: str = "none"

    class More(Mine):
        more: int = 1

    for kind in (Mine, More):
        event = kind(author="a", message="hello")
        assert (event.message, event.node_name, event.content) == ("hello", "none", None)
        event.message = "new"
        assert (event.message, event.content) == ("new", None)
        assert kind.model_validate_json(event.model_dump_json()).message == "new"
        assert event.model_copy().message == "new"
        assert kind().message == ""
    assert Event(message="hello").message.parts[0].text == "hello"
