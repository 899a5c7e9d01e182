"""What `DebugLoggingPlugin` tells of events, requests and answers (adk-runtime 10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from devui.runtime.models.own_contents import for_reading

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse

_COUNTS = ("prompt_token_count", "candidates_token_count", "total_token_count")
_SETTINGS = ("temperature", "top_p", "top_k", "max_output_tokens", "response_mime_type")
_ACTIONS = ("state_delta", "artifact_delta", "transfer_to_agent", "escalate")
_DETAILS = {
    "function_call": ("id", "name", "args"),
    "function_response": ("id", "name", "response"),
    "file_data": ("file_uri", "mime_type"),
    "code_execution_result": ("outcome", "output"),
    "executable_code": ("language", "code"),
}
"""What is told of the parts of a content."""


def plain_content(content: types.Content | None) -> dict[str, Any] | None:
    """The role and the parts; of files in it their type and name alone."""
    if content is None:
        return None
    parts = [_plain_part(part) for part in content.parts or []]
    return {"role": content.role, "parts": [part for part in parts if part]}


def event_data(event: Event) -> dict[str, Any]:
    """What an event says and does."""
    path = event.node_info.path
    whole = not event.partial
    failed = bool(path and whole and event.error_code and event.content is None)
    return {
        "event_id": event.id,
        "author": event.author,
        "content": plain_content(event.content),
        "is_final_response": event.is_final_response(),
        **_told(event, "partial", "turn_complete", "branch"),
        "actions": _actions(event) or None,
        "has_grounding_metadata": True if event.grounding_metadata else None,
        "usage_metadata": _usage(event, _COUNTS),
        **(_told(event, "error_code", "error_message") if event.error_code else {}),
        "long_running_tool_ids": sorted(event.long_running_tool_ids or ()) or None,
        "node_path": path or None,
        "node_output": _output(event) if path and whole else None,
        "node_error": _told(event, "error_code", "error_message") if failed else None,
    }


def request_data(request: LlmRequest, *, instruction: bool) -> dict[str, Any]:
    """What a model is asked; `instruction`: the system instruction, and not its length alone."""
    config = request.config
    settings = {name: getattr(config, name) for name in _SETTINGS}
    if config.response_schema:
        settings["has_response_schema"] = True
    told = config.system_instruction
    if told and instruction:
        settings["system_instruction"] = told
    elif isinstance(told, str):
        settings["system_instruction_length"] = len(told)
    elif told:
        settings["has_system_instruction"] = True
    return {
        "model": request.model,
        "content_count": len(request.contents),
        "contents": [plain_content(content) for content in for_reading(request.contents)],
        "tools": list(request.tools_dict) or None,
        "config": {name: value for name, value in settings.items() if value is not None} or None,
    }


def response_data(response: LlmResponse) -> dict[str, Any]:
    """What a model answered; why it stopped only of the whole answer."""
    whole = not response.partial
    ended = response.finish_reason if whole else None
    return {
        "content": plain_content(response.content),
        **_told(response, "partial", "turn_complete", "model_version"),
        **(_told(response, "error_code", "error_message") if whole else {}),
        "usage_metadata": _usage(response, (*_COUNTS, "cached_content_token_count")),
        "has_grounding_metadata": True if response.grounding_metadata else None,
        "finish_reason": str(ended) if ended else None,
    }


def _plain_part(part: types.Part) -> dict[str, Any]:
    told: dict[str, Any] = {"text": part.text} if part.text else {}
    if part.thought:
        told["thought"] = True
    for kind, names in _DETAILS.items():
        if (found := getattr(part, kind)) is not None:
            told[kind] = _told(found, *names)
    if part.inline_data is not None:
        told["inline_data"] = {
            **_told(part.inline_data, "mime_type", "display_name"),
            "_data_omitted": True,
        }
    return told


def _actions(event: Event) -> dict[str, Any]:
    actions = event.actions
    found = {name: getattr(actions, name) for name in _ACTIONS}
    found["requested_auth_configs"] = len(actions.requested_auth_configs)
    return {name: value for name, value in found.items() if value}


def _output(event: Event) -> Any:
    return None if event.node_info.message_as_output else event.output


def _usage(answer: LlmResponse, names: tuple[str, ...]) -> dict[str, Any] | None:
    return _told(answer.usage_metadata, *names) if answer.usage_metadata else None


def _told(source: Any, *names: str) -> dict[str, Any]:
    """The fields of those names that are set."""
    found = {name: getattr(source, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}
