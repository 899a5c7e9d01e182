"""`DebugLoggingPlugin`: writes everything that happens in a run to a file (adk-runtime 10.4)."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from devui.runtime.auth.auth_credential import (
    AuthCredential,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
    ServiceAccount,
    ServiceAccountCredential,
)
from devui.runtime.models.llm_request import for_reading
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.sessions.state import State

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse
    from devui.runtime.tools.base_tool import BaseTool


# What `DebugLoggingPlugin` records of events, requests and answers (adk-runtime 10.4).


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
"""The fields to record of a content's parts, by kind of part."""


def plain_content(content: types.Content | None) -> dict[str, Any] | None:
    """Return a content's role and parts; of inline files, only their type and name."""
    if content is None:
        return None
    parts = [_plain_part(part) for part in content.parts or []]
    return {"role": content.role, "parts": [part for part in parts if part]}


def event_data(event: Event) -> dict[str, Any]:
    """Return what to record of an event."""
    path = event.node_info.path
    whole = not event.partial
    failed = bool(path and whole and event.error_code and event.content is None)
    return {
        "event_id": event.id,
        "author": event.author,
        "content": plain_content(event.content),
        "is_final_response": event.is_final_response(),
        **_attributes(event, "partial", "turn_complete", "branch"),
        "actions": _actions(event) or None,
        "has_grounding_metadata": True if event.grounding_metadata else None,
        "usage_metadata": _usage(event, _COUNTS),
        **(_attributes(event, "error_code", "error_message") if event.error_code else {}),
        "long_running_tool_ids": sorted(event.long_running_tool_ids or ()) or None,
        "node_path": path or None,
        "node_output": _output(event) if path and whole else None,
        "node_error": _attributes(event, "error_code", "error_message") if failed else None,
    }


def request_data(request: LlmRequest, *, instruction: bool) -> dict[str, Any]:
    """Return what to record of a request.

    `instruction` includes the system instruction, instead of only its length.
    """
    config = request.config
    settings = {name: getattr(config, name) for name in _SETTINGS}
    if config.response_schema:
        settings["has_response_schema"] = True
    system_instruction = config.system_instruction
    if system_instruction and instruction:
        settings["system_instruction"] = system_instruction
    elif isinstance(system_instruction, str):
        settings["system_instruction_length"] = len(system_instruction)
    elif system_instruction:
        settings["has_system_instruction"] = True
    return {
        "model": request.model,
        "content_count": len(request.contents),
        "contents": [plain_content(content) for content in for_reading(request.contents)],
        "tools": list(request.tools_dict) or None,
        "config": {name: value for name, value in settings.items() if value is not None} or None,
    }


def response_data(response: LlmResponse) -> dict[str, Any]:
    """Return what to record of an answer; only a complete one has an error or a finish reason."""
    whole = not response.partial
    reason = response.finish_reason if whole else None
    return {
        "content": plain_content(response.content),
        **_attributes(response, "partial", "turn_complete", "model_version"),
        **(_attributes(response, "error_code", "error_message") if whole else {}),
        "usage_metadata": _usage(response, (*_COUNTS, "cached_content_token_count")),
        "has_grounding_metadata": True if response.grounding_metadata else None,
        "finish_reason": str(reason) if reason else None,
    }


def _plain_part(part: types.Part) -> dict[str, Any]:
    fields: dict[str, Any] = {"text": part.text} if part.text else {}
    if part.thought:
        fields["thought"] = True
    for kind, names in _DETAILS.items():
        if (value := getattr(part, kind)) is not None:
            fields[kind] = _attributes(value, *names)
    if part.inline_data is not None:
        fields["inline_data"] = {
            **_attributes(part.inline_data, "mime_type", "display_name"),
            "_data_omitted": True,
        }
    return fields


def _actions(event: Event) -> dict[str, Any]:
    actions = event.actions
    values = {name: getattr(actions, name) for name in _ACTIONS}
    values["requested_auth_configs"] = len(actions.requested_auth_configs)
    return {name: value for name, value in values.items() if value}


def _output(event: Event) -> Any:
    return None if event.node_info.message_as_output else event.output


def _usage(answer: LlmResponse, names: tuple[str, ...]) -> dict[str, Any] | None:
    return _attributes(answer.usage_metadata, *names) if answer.usage_metadata else None


def _attributes(source: Any, *names: str) -> dict[str, Any]:
    """Return the fields with these names that are set."""
    values = {name: getattr(source, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


# The file of `DebugLoggingPlugin`: a YAML document for each invocation (adk-runtime 10.4).


logger = logging.getLogger(__name__)

_ESCAPED = re.compile(
    "[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""Characters that YAML rejects, or reads as line breaks."""
_LONE = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which UTF-8 can't encode."""


class DebugFile:
    """A file that documents are appended to; if created here, only its owner can read it."""

    def __init__(self, path: Path) -> None:
        """Set the path; the file is opened only when there is something to write."""
        self._path = path
        self._has_warned = False

    def append(self, document: dict[str, Any]) -> None:
        """Append a document. Errors are only logged: a log must not break the run it describes."""
        try:
            block = f"---\n{_yaml(document)}\n".encode()
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "ab") as file:
                self._look_at_mode(file.fileno())
                file.write(block)
        except (OSError, ValueError, RecursionError) as error:
            logger.error("%s cannot be written: %s", self._path, error)  # noqa: TRY400  it says all

    def _look_at_mode(self, handle: int) -> None:
        if not self._has_warned and os.fstat(handle).st_mode & 0o077:
            self._has_warned = True
            logger.warning(
                "%s contains whole prompts and answers, and other users can read it: chmod 600 %s",
                self._path,
                self._path,
            )


def _yaml(document: dict[str, Any]) -> str:
    """Return the document as JSON, which is valid YAML and needs no package."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return _ESCAPED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", _LONE.sub("\ufffd", text))


# Data for a log that others may read: plain, and without secrets (adk-runtime 10.4).


MASK = "[REDACTED]"

_CREDENTIALS = (
    AuthCredential,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
    ServiceAccount,
    ServiceAccountCredential,
)
_DEEPEST = 20
"""How deep nested data is followed, in case it contains itself."""
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""The boundaries between the words of a name such as `openaiApiKey`."""
_SECRET = re.compile(
    r"api_key|passwd|password|secret|credentials|private_key|(?:^|_)token$"
    r"|^(?:auth_code|auth_response_uri|authorization|code_verifier|google_access_id|sig|signature"
    r"|(?:proxy|x_amz|x_goog)_\w+)$"
)
"""Names of secrets, in lower case with `_` between words; `prompt_token_count` isn't one."""
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)


def masked(value: object, depth: int = 0) -> Any:
    """Convert a value to JSON types, and replace secrets by name, class or form with `MASK`.

    All of the state below `temp:` counts as secret, since it holds exchanged credentials. Bytes
    are reduced to their number, and objects without a JSON form to their `str()`.
    """
    if isinstance(value, _CREDENTIALS):
        return MASK
    if depth > _DEEPEST:
        return f"<{type(value).__name__} ...>"
    if isinstance(value, BaseModel):
        value = {name: each for name, each in value if each is not None}
    if isinstance(value, Mapping):
        return {
            str(name): MASK if is_secret(name) else masked(each, depth + 1)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [masked(each, depth + 1) for each in value]
    return _single(value.value if isinstance(value, Enum) else value)


def _single(value: object) -> Any:
    """Convert a value that contains no others."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return _PRIVATE_KEY.sub(MASK, str(value))


def is_secret(name: object) -> bool:
    """Return whether data with that name must not be recorded."""
    if not isinstance(name, str):
        return False
    if name.startswith(State.TEMP_PREFIX):
        return True
    bare = name.removeprefix(State.APP_PREFIX).removeprefix(State.USER_PREFIX)
    return bool(_SECRET.search(_HUMPS.sub("_", bare).lower().replace("-", "_")))


_UNFINISHED = 100
"""How many unwritten documents are kept: plugins aren't notified when a run is cancelled."""


class DebugLoggingPlugin(BasePlugin):
    """Appends a YAML document to a file for each invocation, when it ends or fails.

    An abandoned invocation is written once a hundred others are unfinished, or when the Runner is
    closed. Credentials are masked, but the file contains complete prompts and answers.
    """

    def __init__(
        self,
        *,
        name: str = "debug_logging_plugin",
        output_path: str = "adk_debug.yaml",
        include_session_state: bool = True,
        include_system_instruction: bool = True,
    ) -> None:
        """Set the file and what to record.

        Args:
            name: The plugin's name.
            output_path: The file; its present contents stay.
            include_session_state: Record the session's state at the end of each invocation.
            include_system_instruction: Record system instructions, instead of only their lengths.
        """
        super().__init__(name)
        self._debug_file = DebugFile(Path(output_path))
        self._include_session_state = include_session_state
        self._include_system_instruction = include_system_instruction
        self._documents_by_invocation: dict[str, dict[str, Any]] = {}

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        """Begin a document with the user's message."""
        await _begin(self, invocation_context)
        _add(self, invocation_context, "user_message", content=plain_content(user_message))

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Record the start of a run, and begin its document unless there is one."""
        await _begin(self, invocation_context)
        agent, branch = invocation_context.agent, invocation_context.branch
        _add(
            self,
            invocation_context,
            "invocation_start",
            agent=agent.name if agent else None,
            branch=branch,
        )

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Record an event."""
        _add(self, invocation_context, "event", agent=event.author, **event_data(event))

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Write the document of a run that has ended."""
        if self._include_session_state:
            session = invocation_context.session
            _add(
                self,
                invocation_context,
                "session_state_snapshot",
                state=session.state,
                event_count=len(session.events),
            )
        _add(self, invocation_context, "invocation_end")
        await _write(self, invocation_context.invocation_id)

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Write the document of a run that has failed."""
        _add(self, invocation_context, "invocation_error", **_error_fields(error))
        await _write(self, invocation_context.invocation_id)

    async def close(self) -> None:
        """Write the documents of runs that never ended."""
        for invocation_id in list(self._documents_by_invocation):
            await _write(self, invocation_id)

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Record the start of an agent."""
        branch = callback_context.branch
        _add(self, callback_context, "agent_start", agent=agent.name, branch=branch)

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Record the end of an agent."""
        _add(self, callback_context, "agent_end", agent=agent.name)

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Record a request to a model."""
        data = request_data(llm_request, instruction=self._include_system_instruction)
        _add(self, callback_context, "llm_request", agent=callback_context.agent_name, **data)

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> None:
        """Record a model's response."""
        data = response_data(llm_response)
        _add(self, callback_context, "llm_response", agent=callback_context.agent_name, **data)

    async def on_model_error_callback(
        self, *, callback_context: Context, llm_request: LlmRequest, error: Exception
    ) -> None:
        """Record a model's exception."""
        agent = callback_context.agent_name
        fields = _error_fields(error)
        _add(self, callback_context, "llm_error", agent=agent, model=llm_request.model, **fields)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> None:
        """Record a tool's arguments."""
        _add_call(self, "tool_call", tool, tool_context, args=tool_args)

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> None:
        """Record a tool's result."""
        _add_call(self, "tool_response", tool, tool_context, result=result)

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> None:
        """Record a tool's exception."""
        _add_call(self, "tool_error", tool, tool_context, args=tool_args, **_error_fields(error))


async def _write(plugin: DebugLoggingPlugin, invocation_id: str) -> None:
    document = plugin._documents_by_invocation.pop(invocation_id, None)
    if document is not None:
        await asyncio.to_thread(plugin._debug_file.append, document)


def _add(
    plugin: DebugLoggingPlugin,
    ctx: InvocationContext | Context,
    kind: str,
    *,
    agent: str | None = None,
    **data: Any,
) -> None:
    """Add an entry, converted to plain data right away because its objects may change later."""
    document = plugin._documents_by_invocation.get(ctx.invocation_id)
    if document is None:  # the run's document is already written
        return
    fields = {key: value for key, value in data.items() if value is not None}
    entry = {
        "timestamp": _now(),
        "entry_type": kind,
        "invocation_id": ctx.invocation_id,
        "agent_name": agent,
        "data": masked(fields),
    }
    document["entries"].append({key: each for key, each in entry.items() if each is not None})


def _add_call(
    plugin: DebugLoggingPlugin, kind: str, tool: BaseTool, tool_context: Context, **data: Any
) -> None:
    names = {"tool_name": tool.name, "function_call_id": tool_context.function_call_id}
    _add(plugin, tool_context, kind, agent=tool_context.agent_name, **names, **data)


async def _begin(plugin: DebugLoggingPlugin, ctx: InvocationContext) -> None:
    """Begin an invocation's document unless it has one; if there are too many, write the oldest."""
    session = ctx.session
    plugin._documents_by_invocation.setdefault(
        ctx.invocation_id,
        {
            "invocation_id": ctx.invocation_id,
            "session_id": session.id,
            "app_name": session.app_name,
            "user_id": ctx.user_id,
            "start_time": _now(),
            "entries": [],
        },
    )
    if len(plugin._documents_by_invocation) > _UNFINISHED:
        await _write(plugin, next(iter(plugin._documents_by_invocation)))


def _error_fields(error: Exception) -> dict[str, str]:
    return {"error_type": type(error).__name__, "error_message": str(error)}


def _now() -> str:
    return datetime.now().astimezone().isoformat()
