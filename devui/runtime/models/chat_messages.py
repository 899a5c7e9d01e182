"""Contents as messages of OpenAI's chat completions, which many speak (adk-runtime 9.4)."""

import json
from typing import Any

from google.genai import types
from pydantic_core import to_jsonable_python

from devui.runtime.halves import sendable
from devui.runtime.models.call_ids import CallIds
from devui.runtime.models.chat_dialect import Dialect, Json
from devui.runtime.models.chat_media import media, piece
from devui.runtime.models.chat_thoughts import blocks, written
from devui.runtime.models.missing_results import NO_RESULT


def messages(contents: list[types.Content], dialect: Dialect) -> list[Json]:
    """The conversation as messages; every tool call is followed by its result.

    Args:
        contents: The conversation, oldest first.
        dialect: How the service wants them.
    """
    found: list[Json] = []
    ids = CallIds()
    for content in contents:
        parts = ids.parts(content)
        found += [_tool_message(p.function_response, dialect) for p in parts if p.function_response]
        if content.role in ("model", "assistant"):
            others = [part for part in parts if not part.function_response]
            found += _assistant_messages(others, dialect)
        else:
            found += _user_messages([one for part in parts for one in _said(part)], dialect)
    return _answered(found, dialect.tool_role)


def system_text(instruction: Any) -> str:
    """A system instruction of any kind that google-genai takes, as one text."""
    if instruction is None or isinstance(instruction, str):
        return instruction or ""
    if isinstance(instruction, types.Content):
        return "\n".join(part.text for part in instruction.parts or [] if part.text)
    if isinstance(instruction, types.Part):
        return instruction.text or ""
    if isinstance(instruction, dict):
        kind = types.Content if "parts" in instruction else types.Part
        return system_text(kind.model_validate(instruction))
    return "\n\n".join(filter(None, map(system_text, instruction)))


def _tool_message(response: types.FunctionResponse, dialect: Dialect) -> Json:
    value = to_jsonable_python(response.response, serialize_unknown=True)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"role": dialect.tool_role, "tool_call_id": response.id or "", "content": sendable(text)}


def _said(part: types.Part) -> list[types.Part]:
    """What of a user's part is no result of a tool: itself, or what a tool returned beside it."""
    return media(part.function_response) if part.function_response else [part]


def _user_messages(parts: list[types.Part], dialect: Dialect) -> list[Json]:
    pieces = [piece(part, dialect) for part in parts if not part.thought]
    kept = [one for one in pieces if one is not None]
    if not kept:
        return []
    if len(kept) == 1 or dialect.joined:
        texts = [one["text"] for one in kept if one["type"] == "text"]
        if len(texts) == len(kept):
            return [{"role": "user", "content": "\n".join(texts)}]
    return [{"role": "user", "content": kept}]


def _assistant_messages(parts: list[types.Part], dialect: Dialect) -> list[Json]:
    said = "\n".join(part.text for part in parts if part.text and not part.thought)
    text = sendable(said)
    calls = [_tool_call(part, dialect) for part in parts if part.function_call]
    if not text and not calls:
        return []
    message: Json = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    return [message | _thoughts([part for part in parts if part.thought], dialect)]


def _thoughts(parts: list[types.Part], dialect: Dialect) -> Json:
    """What of a message tells the service what its model thought."""
    if dialect.thoughts == "blocks" and (signed := blocks(parts)):
        return {"thinking_blocks": signed}
    text = sendable("".join(part.text or "" for part in parts))
    return {"reasoning_content": text} if text and dialect.thoughts else {}


def _tool_call(part: types.Part, dialect: Dialect) -> Json:
    call = part.function_call
    assert call is not None  # noqa: S101  the caller looked
    arguments = sendable(json.dumps(to_jsonable_python(call.args or {}), ensure_ascii=False))
    found: Json = {
        "id": call.id or "",
        "type": "function",
        "function": {"name": call.name or "", "arguments": arguments},
    }
    if part.thought_signature:  # Gemini, spoken to in OpenAI's way, wants it back
        signature = {"thought_signature": written(part.thought_signature)}
        found["extra_content"] = {"google": signature}
        if dialect.litellms:  # which speaks Gemini's own protocol, and looks here
            found["provider_specific_fields"] = signature
    return found


def _answered(found: list[Json], tool_role: str) -> list[Json]:
    """The messages with a stand-in for each missing result, without which services refuse all."""
    answered = {message["tool_call_id"] for message in found if message["role"] == tool_role}
    whole: list[Json] = []
    for message in found:
        missing = [one["id"] for one in message.get("tool_calls", ()) if one["id"] not in answered]
        whole.append(message)
        whole += [
            {"role": tool_role, "tool_call_id": call_id, "content": NO_RESULT}
            for call_id in missing
        ]
    return whole
