"""A node's questions to a person, and the answers (adk-runtime 12.6)."""

from collections.abc import Mapping
from typing import Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError, create_model

from devui.runtime.agents.invocation_events import REQUEST_INPUT
from devui.runtime.events.event import Event
from devui.runtime.events.request_input import RequestInput
from devui.runtime.models.output_schema import json_schema
from devui.runtime.workflow.errors import WorkflowDataError
from devui.runtime.workflow.values import json_or_text

_TYPES: dict[Any, Any] = {
    "integer": int,
    "number": float,
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def request_event(request: RequestInput) -> Event:
    """Return the event that asks the question; the node waits for the response to its call."""
    args = request.model_dump(exclude={"response_schema"}, by_alias=True)
    schema = request.response_schema
    # The one key that is not camelCase (adk-runtime 12.6).
    args["response_schema"] = None if schema is None else json_schema(schema)
    call = types.FunctionCall(name=REQUEST_INPUT, args=args, id=request.interrupt_id)
    return Event(
        content=types.Content(role="model", parts=[types.Part(function_call=call)]),
        long_running_tool_ids={request.interrupt_id},
    )


def create_request_input_response(interrupt_id: str, response: Mapping[str, Any]) -> types.Part:
    """Return the part of a user's message that answers a question (adk-runtime 12.6)."""
    answer = types.FunctionResponse(id=interrupt_id, name=REQUEST_INPUT, response=dict(response))
    return types.Part(function_response=answer)


def asked_for(event: Event) -> dict[str, Any]:
    """Return the ids of the event's calls that a person answers, with the answers' schemas."""
    schema_by_id: dict[str, Any] = dict.fromkeys(event.long_running_tool_ids or ())
    for call in event.get_function_calls():
        if call.name == REQUEST_INPUT and call.id:
            schema_by_id[call.id] = (call.args or {}).get("response_schema")
    return schema_by_id


def answer_of(response: types.FunctionResponse, schema: Any) -> Any:
    """Return a person's answer, in the type that was asked for.

    A lone `result` is unwrapped and, if it is JSON in a string, parsed.

    Raises:
        WorkflowDataError: the answer doesn't fit.
    """
    value: Any = response.response
    if isinstance(value, dict) and value.keys() == {"result"}:
        value = value["result"]
        if isinstance(value, str):
            value = json_or_text(value)
    value_type = _type_of(schema)
    if value_type is None:
        return value
    if value_type is str and not isinstance(value, str):
        value = (response.response or {}).get("result", value)  # "42" was meant as text
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(value_type)
        return adapter.dump_python(adapter.validate_python(value))
    except ValidationError as error:
        raise WorkflowDataError(
            f"The answer to {response.id!r} does not fit what was asked for; send another"
            f" function response with this id. {error}"
        ) from error


def _type_of(schema: Any) -> Any:
    """Return the Python type for a JSON schema: its outermost type, and an object's properties."""
    if not isinstance(schema, dict):
        return None
    properties = schema.get("properties")
    if schema.get("type") != "object" or not properties:
        return _TYPES.get(schema.get("type"))
    required = schema.get("required", [])
    fields: dict[str, Any] = {}
    for name, each in properties.items():
        kind = _TYPES.get(each.get("type"), Any)
        fields[name] = (kind, ...) if name in required else (kind | None, None)
    return create_model("Answer", **fields)
