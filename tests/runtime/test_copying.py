"""Copies of models and JSON values equal those of pydantic and `copy`, and share no more."""

import copy
import os
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from google.genai import types
from pydantic import BaseModel, ConfigDict, PrivateAttr

from devui.runtime.copying import assign, copy_with, json_copy
from devui.runtime.events.event import Event, NodeInfo
from devui.runtime.events.event_actions import EventActions
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.platform.uuid import new_uuid


class _Open(BaseModel):
    """A user-defined model with everything that a pydantic model may have."""

    model_config = ConfigDict(extra="allow")
    name: str = ""
    _notes: list[str] = PrivateAttr(default_factory=list)


MODELS: list[tuple[BaseModel, dict[str, Any]]] = [
    (types.Part(text="a"), {"thought": True}),
    (types.Content(role="user", parts=[types.Part(text="a")]), {"parts": []}),
    (types.FunctionCall(id="adk-1", name="f", args={"a": 1}), {"id": None}),
    (types.GenerateContentConfig(temperature=0.5), {}),
    (Event(author="a", invocation_id="i"), {"branch": "b"}),
    (LlmRequest(model="m"), {"model": "n"}),
    (_Open(name="a", more=1), {"name": "b"}),
]


@pytest.mark.parametrize(("model", "values"), MODELS, ids=lambda each: type(each).__name__)
def test_copy_with_makes_the_same_copy_as_pydantic(
    model: BaseModel, values: dict[str, Any]
) -> None:
    before = model.model_copy(deep=True)
    copy, reference = copy_with(model, **values), model.model_copy(update=values)
    assert copy == reference
    assert copy.model_fields_set == reference.model_fields_set
    assert copy.model_dump() == reference.model_dump()
    assert model == before


def test_changing_the_copy_leaves_the_original_alone():
    original = _Open(name="a", more=1)
    copy = copy_with(original)
    copy.name, copy.more, copy._notes = "b", 2, ["new"]
    assert (original.name, original.more, original._notes) == ("a", 1, [])
    assert original.model_fields_set == {"name", "more"}


def test_an_extra_field_of_the_copy_is_not_added_to_the_original():
    original = _Open(name="a")
    copy_with(original).more = 1
    assert original.model_extra == {}


def test_assembled_actions_equal_newly_created_ones():
    actions, reference = EventActions.assemble(), EventActions()
    assert actions == reference
    assert actions.model_fields_set == reference.model_fields_set
    assert actions.model_dump(exclude_unset=True) == {}
    actions.state_delta["a"] = actions.requested_tool_confirmations["b"] = 1
    actions.escalate = True
    assert EventActions.assemble() == EventActions()
    assert EventActions.assemble().model_fields_set == set()


def test_an_assembled_event_equals_a_validated_one():
    place = NodeInfo(path="a@1")
    values = {"id": "1", "author": "a", "timestamp": 1.0, "branch": None, "node_info": place}
    event, reference = Event.assemble(**values, actions=EventActions()), Event(**values)
    assert event == reference
    assert event.model_fields_set == reference.model_fields_set | {"actions"}


def test_assign_sets_values_on_the_model_itself():
    model = types.Content(role="user")
    assert assign(model, parts=[]) is model
    assert model == types.Content(role="user", parts=[])
    assert model.model_fields_set == {"role", "parts"}


def test_a_json_copy_shares_nothing_mutable():
    original = {"a": [1, {"b": "c"}], "d": {"e": None}, "f": 1.5, "g": True}
    duplicate = json_copy(original)
    assert duplicate == original
    duplicate["a"][1]["b"] = duplicate["d"]["e"] = "changed"
    assert original == {"a": [1, {"b": "c"}], "d": {"e": None}, "f": 1.5, "g": True}


def test_json_copy_deep_copies_what_is_not_json():
    original = {"when": datetime(2026, 1, 1, tzinfo=UTC), "set": {1}, "pair": ([1], 2)}
    duplicate = json_copy(original)
    assert duplicate == copy.deepcopy(original)
    assert duplicate["set"] is not original["set"]
    assert duplicate["pair"][0] is not original["pair"][0]


def test_ids_are_random_uuids():
    ids = {new_uuid() for _ in range(1000)}
    assert len(ids) == 1000
    for each in ids:
        assert str(UUID(each)) == each
        assert UUID(each).version == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes can be forked")
def test_a_forked_process_creates_its_own_ids():
    new_uuid()
    read_end, write_end = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write_end, "\n".join(new_uuid() for _ in range(100)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    theirs = set(os.read(read_end, 10_000).decode().split())
    os.close(read_end)
    assert len(theirs) == 100
    assert theirs.isdisjoint(new_uuid() for _ in range(100))
