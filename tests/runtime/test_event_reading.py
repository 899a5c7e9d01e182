"""Reading an event gives the same as validating it (events seed; adk-runtime 1.2)."""

import json
import warnings
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel

from devui.runtime.events import Event, EventActions
from devui.runtime.events.reading import plain_reader, read_event
from devui.runtime.platform.time import reset_time_provider, set_time_provider
from devui.runtime.platform.uuid import reset_id_provider, set_id_provider

TEXTS = st.text(max_size=5)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=2)
TOKENS = st.integers(0, 10**6)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


PARTS = some(
    text=TEXTS,
    thought=st.booleans(),
    thought_signature=st.sampled_from(["", "aGk=", "-_8=", "aGk"]),
    inline_data=some(mime_type=TEXTS, data=st.sampled_from(["aGk=", "-_8="])),
    function_call=some(id=TEXTS, name=TEXTS, args=OBJECTS),
    function_response=some(id=TEXTS, name=TEXTS, response=OBJECTS),
    file_data=some(file_uri=TEXTS),
    executable_code=some(code=TEXTS, language=st.sampled_from(["PYTHON", "LANGUAGE_UNSPECIFIED"])),
)
CONFIRMATION = some(hint=TEXTS, confirmed=st.booleans())
ACTIONS = some(
    state_delta=OBJECTS,
    artifact_delta=st.dictionaries(TEXTS, TOKENS, max_size=2),
    skip_summarization=st.booleans(),
    transfer_to_agent=TEXTS,
    escalate=st.booleans() | st.none(),
    end_of_agent=st.booleans(),
    agent_state=OBJECTS,
    route=TEXTS | st.booleans(),
    requested_auth_configs=st.just({}),
    requested_tool_confirmations=st.dictionaries(TEXTS, CONFIRMATION, max_size=1),
    rewind_before_invocation_id=TEXTS,
)
USAGE = some(
    total_token_count=TOKENS,
    prompt_tokens_details=st.lists(
        some(modality=st.sampled_from(["TEXT", "AUDIO"]), token_count=TOKENS), max_size=1
    ),
    traffic_type=st.sampled_from(["ON_DEMAND"]),
)
EVENTS = some(
    id=TEXTS,
    timestamp=st.floats(allow_nan=False) | st.integers(0, 2**40),
    invocation_id=TEXTS,
    author=TEXTS,
    branch=TEXTS | st.none(),
    content=some(role=TEXTS, parts=st.lists(PARTS, max_size=2)) | st.none(),
    actions=ACTIONS,
    node_info=some(path=TEXTS, output_for=st.lists(TEXTS, max_size=1)),
    output=VALUES,
    long_running_tool_ids=st.lists(TEXTS, max_size=2),
    finish_reason=st.sampled_from(["STOP", "stop", "MAX_TOKENS"]),
    usage_metadata=USAGE,
    custom_metadata=OBJECTS,
    avg_logprobs=st.floats(),
    error_code=TEXTS,
    partial=st.booleans(),
    citation_metadata=some(citations=st.lists(some(uri=TEXTS), max_size=1)),
)


@pytest.fixture(autouse=True, scope="module")
def _known_ids_and_times():
    set_id_provider(lambda: "made up")
    set_time_provider(lambda: 12.5)
    yield
    reset_id_provider()
    reset_time_provider()


def on_the_wire(value: Any, free: bool = False) -> Any:
    """Return the value with field names as aliases; keys that agents choose stay."""
    if isinstance(value, list):
        return [on_the_wire(each, free) for each in value]
    if not isinstance(value, dict):
        return value
    return {k if free else to_camel(k): on_the_wire(v, free or k in FREE) for k, v in value.items()}


FREE = {
    *("state_delta", "artifact_delta", "agent_state", "output", "custom_metadata", "args"),
    *("response", "requested_tool_confirmations"),
}


def outcome(read: Any, text: str) -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):  # about unknown values of enums
            return anatomy(read(text))
    except ValidationError as invalid:
        return [(error["loc"], error["type"]) for error in invalid.errors()]
    except AttributeError as enum_error:  # google-genai's enums raise it for non-text values
        return str(enum_error)


def anatomy(value: Any) -> Any:
    """Return a value with what equality ignores: types, order, and which fields were set."""
    if isinstance(value, BaseModel):
        inside = (value.__pydantic_extra__, value.__pydantic_private__)
        return type(value), value.model_fields_set, inside, anatomy(value.__dict__)
    if isinstance(value, dict):
        return [(key, anatomy(each)) for key, each in value.items()]
    if isinstance(value, list):
        return [anatomy(each) for each in value]
    return type(value), repr(sorted(value) if isinstance(value, set) else value)


@given(EVENTS)
def test_read_event_reads_an_event_like_validation(fields):
    for text in (json.dumps(fields), json.dumps(on_the_wire(fields))):
        assert outcome(read_event, text) == outcome(Event.model_validate_json, text)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return each dict or list in a value with each of its keys."""
    keys = value if isinstance(value, dict) else range(len(value))
    here = [(value, key) for key in keys]
    inner = [value[key] for key in keys if isinstance(value[key], dict | list)]
    return here + [place for each in inner for place in places(each)]


@given(EVENTS, st.data())
def test_read_event_refuses_invalid_events_with_the_same_errors(fields, data):
    fields["content"] = {"parts": [{"function_call": {"name": "f", "args": {}}}]}
    inside, key = data.draw(st.sampled_from(places(fields)))
    inside[key] = data.draw(VALUES)
    if isinstance(inside, dict):
        inside[data.draw(TEXTS)] = data.draw(VALUES)
    text = json.dumps(fields)
    assert outcome(read_event, text) == outcome(Event.model_validate_json, text)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"id": 1}', '{"actions": null}'])
def test_read_event_refuses_other_json_with_the_same_errors(text):
    assert outcome(read_event, text) == outcome(Event.model_validate_json, text)


def test_a_shorthand_is_expanded():
    assert read_event('{"state": {"a": 1}}').actions.state_delta == {"a": 1}


def test_typical_events_are_plain_and_others_are_left_to_validation():
    call = types.FunctionCall(id="c", name="f", args={"a": [1]})
    response = types.FunctionResponse(id="c", name="f", response={"b": None})
    parts = [types.Part(text="hi", thought_signature=b"\x00"), types.Part(function_call=call)]
    plain = Event(
        author="a",
        content=types.Content(parts=[*parts, types.Part(function_response=response)]),
        actions=EventActions(state_delta={"k": 1}, artifact_delta={"f": 2}, agent_state={"n": 1}),
        usage_metadata=types.GenerateContentResponseUsageMetadata(total_token_count=3),
        finish_reason=types.FinishReason.STOP,
        long_running_tool_ids={"c"},
    )
    for by_alias in (True, False):
        text = plain.model_dump_json(by_alias=by_alias, exclude_none=True)
        assert plain_reader().validate_json(text) == plain
    odd = types.Part(text="hi", video_metadata=types.VideoMetadata(fps=1))
    text = Event(content=types.Content(parts=[odd])).model_dump_json(exclude_none=True)
    with pytest.raises(ValidationError):
        plain_reader().validate_json(text)
    assert read_event(text).content.parts == [odd]


@pytest.mark.parametrize("levels", [100, 190, 250])
def test_an_event_is_read_however_deep_its_values_are(levels):
    deep: Any = ["end"]
    for _ in range(levels - 1):
        deep = {"a": deep} if levels % 20 else [deep]
    call = types.FunctionCall(id="c", name="f", args={"deep": deep})
    picture = types.Blob(data=b"\xff\x00", mime_type="image/png")
    parts = [types.Part(function_call=call), types.Part(inline_data=picture)]
    event = Event(content=types.Content(parts=parts), state={"deep": deep}, author="a")
    for by_alias in (True, False):
        assert read_event(event.model_dump_json(by_alias=by_alias)) == event


@pytest.mark.parametrize("text", ["[" * 1000, '{"custom_metadata":' * 100_000, "[" * 100_000])
def test_deeply_nested_json_is_refused_with_the_same_errors(text):
    assert outcome(read_event, text) == outcome(Event.model_validate_json, text)


def test_two_events_that_are_read_share_nothing():
    first, second = read_event("{}"), read_event("{}")
    first.actions.state_delta["a"] = first.node_info.path = "changed"
    assert (second.actions.state_delta, second.node_info.path) == ({}, "")
