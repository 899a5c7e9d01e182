"""ADK's routes answer as described in docs/guide/openapi.json, and thus as the client's types."""

from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, TypeAdapter

from devui.debugger.events import contents
from devui.runtime.events.event import Event, NodeInfo
from devui.runtime.events.event_actions import (
    EventActions,
    EventCompaction,
    ToolConfirmation,
    UiWidget,
)
from devui.web.adk import event_json as answers
from devui.web.openapi import ADK, DEVELOPMENT, endpoints
from tests.differential.routes import exchange, write_apps
from tests.kit.schema_checks import check_answer
from tests.kit.server import running

ELSEWHERE = {"/openapi.json", "/dev-ui/config", "/dev-ui/assets/config/runtime-config.json"}
"""Not requested here: the description itself, and routes that exist only with `--adk-web`."""


def test_real_answers_match_their_description(tmp_path) -> None:
    seen = set()
    folder = write_apps(tmp_path)
    with running(folder, tmp_path / "data") as server, server.client() as client:
        for request, answer in exchange(client):
            seen.add(check_answer(request.method, request.path, answer))
        for path in ("/debug/trace/session/t", "/dev/apps/toolbox/builder"):
            seen.add(check_answer("GET", path, client.get(path)))
        events = client.get("/apps/toolbox/users/u/sessions/s").json()["events"]
        path = f"/debug/trace/{events[-1]['id']}"
        seen.add(check_answer("GET", path, client.get(path)))
    expected = {
        (each.method.upper(), each.path)
        for each in endpoints()
        if each.family in {ADK, DEVELOPMENT}
        and each.operation.answer is not None
        and each.path not in ELSEWHERE
    }
    assert expected - seen == set()


@pytest.mark.parametrize(
    ("form", "model"),
    [
        (answers.AdkEventJson, Event),
        (answers.AdkActionsJson, EventActions),
        (answers.AdkNodeInfoJson, NodeInfo),
        (answers.AdkConfirmationJson, ToolConfirmation),
        (answers.AdkCompactionJson, EventCompaction),
        (answers.AdkUiWidgetJson, UiWidget),
        (answers.AdkUsageJson, types.GenerateContentResponseUsageMetadata),
        (answers.AdkContentJson, contents.Content),
        (answers.AdkPartJson, contents.Part),
        (answers.AdkBlobJson, contents.Blob),
        (answers.AdkFileDataJson, contents.FileData),
        (answers.AdkFunctionCallJson, contents.FunctionCall),
        (answers.AdkFunctionResponseJson, contents.FunctionResponse),
        (answers.AdkExecutableCodeJson, contents.ExecutableCode),
        (answers.AdkCodeExecutionResultJson, contents.CodeExecutionResult),
        (answers.AdkTranscriptionJson, contents.Transcription),
    ],
)
def test_the_schema_of_an_event_matches_its_model(form: Any, model: type[BaseModel]) -> None:
    """The same members with the same types; those that are never null are required, except for
    `nodeInfo`, which events from older versions of google-adk lack."""
    schema = TypeAdapter(form).json_schema()
    assert kinds(schema) == kinds(model.model_json_schema())
    never_null = {
        field.alias or name
        for name, field in model.model_fields.items()
        if field.is_required() or field.get_default(call_default_factory=True) is not None
    }
    assert form.__required_keys__ == never_null - {"nodeInfo"}


def kinds(schema: dict[str, Any]) -> dict[str, set[str]]:
    """The JSON types of each member, without null."""
    return {
        name: set(kinds_of(each, schema.get("$defs", {}))) - {"null"}
        for name, each in schema["properties"].items()
    }


def kinds_of(schema: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    schema = definitions.get(schema.get("$ref", "").rpartition("/")[2], schema)
    if "anyOf" in schema:
        return [kind for each in schema["anyOf"] for kind in kinds_of(each, definitions)]
    return [schema.get("type", "any")]
