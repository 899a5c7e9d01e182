"""Converts contents to messages of OpenAI's chat completions (adk-runtime 9.4)."""

import base64
import json
import mimetypes
from typing import Any
from urllib.parse import urlsplit

from google.genai import types
from pydantic_core import to_jsonable_python

from devui.runtime.copying import copy_with
from devui.runtime.jsonable import sendable
from devui.runtime.models.chat_dialect import Dialect, Json
from devui.runtime.models.chat_thoughts import blocks, signature_text
from devui.runtime.models.missing_results import NO_RESULT

# A user's texts, images, audio and files in chat completions (adk-runtime 9.4).


_ANY = "application/octet-stream"
_UPLOADED = ("file-", "assistant-")
"""Prefixes of the ids that OpenAI gives to uploaded files."""
_SOUNDS = {"mpeg": "mp3", "wave": "wav", "vnd.wave": "wav"}
"""Audio formats whose media subtype has a different name, by that subtype."""
_MEDIA_PLACES = {"image": "image_url", "video": "video_url"}
"""Kinds of media that have a field of their own."""


def piece(part: types.Part, dialect: Dialect) -> Json | None:
    """Convert a part of a user's message; return None if a message can't hold it."""
    if part.text:
        return _text(part.text)
    if part.inline_data and part.inline_data.data:
        return _inline(part.inline_data, part.inline_data.data)
    if part.file_data and part.file_data.file_uri:
        return _file(part.file_data, part.file_data.file_uri, dialect)
    if part.executable_code and part.executable_code.code:
        return _text(f"```\n{part.executable_code.code}\n```")
    if part.code_execution_result and part.code_execution_result.output:
        return _text(f"```\n{part.code_execution_result.output}\n```")
    return None


def media(response: types.FunctionResponse) -> list[types.Part]:
    """Return the media of a tool's response, which a message with its result can't hold."""
    parts: list[types.Part] = []
    for part in response.parts or []:
        if (blob := part.inline_data) and blob.mime_type:
            inline = types.Blob(data=blob.data, mime_type=blob.mime_type)
            parts.append(types.Part(inline_data=inline))
        elif file := part.file_data:
            there = types.FileData(file_uri=file.file_uri, mime_type=file.mime_type)
            parts.append(types.Part(file_data=there))
    return parts


def _text(text: str) -> Json:
    return {"type": "text", "text": sendable(text)}


def _inline(blob: types.Blob, data: bytes) -> Json:
    mime = _plain(blob.mime_type or _ANY)
    kind, _, subtype = mime.partition("/")
    if kind == "text":
        return _text(_decode(data))
    base64_text = base64.b64encode(data).decode()
    if kind == "audio":
        sound = subtype.removeprefix("x-")
        audio = {"data": base64_text, "format": _SOUNDS.get(sound, sound)}
        return {"type": "input_audio", "input_audio": audio}
    url = f"data:{mime};base64,{base64_text}"
    if kind in _MEDIA_PLACES:
        return _media(kind, url)
    name = blob.display_name or f"file.{subtype}"
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def _file(file: types.FileData, uri: str, dialect: Dialect) -> Json:
    mime = _plain(
        file.mime_type or _guess_type(uri) or _guess_type(file.display_name or "") or _ANY
    )
    kind = mime.partition("/")[0]
    if uri.startswith(_UPLOADED) and not dialect.files:
        return {"type": "file", "file": {"file_id": uri}}
    if uri.startswith(("https://", "http://")) and kind in _MEDIA_PLACES and not dialect.geminis:
        return _media(kind, uri)
    if dialect.files and mime != _ANY:
        return {"type": "file", "file": {"file_id": uri, "format": mime}}
    return _text(f"[File {file.display_name or uri} ({file.mime_type or 'unknown type'}): {uri}]")


def _media(kind: str, url: str) -> Json:
    return {"type": _MEDIA_PLACES[kind], _MEDIA_PLACES[kind]: {"url": url}}


def _plain(mime: str) -> str:
    """Return a media type in lower case and without its parameters."""
    return mime.partition(";")[0].strip().lower()


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _guess_type(address: str) -> str | None:
    """Guess the media type from a URL or file name, ignoring a version after the name."""
    steps = [step for step in urlsplit(address).path.split("/") if step]
    while len(steps) > 1 and (steps[-1].isdigit() or steps[-1] in ("version", "versions")):
        steps.pop()
    return mimetypes.guess_type(steps[-1])[0] if steps else None


# Ids for tool calls that have none: chat completions match results to calls by id.
#
# Gemini sends no ids, and requests leave out those that the runtime made up (adk-runtime 9.4).


class CallIds:
    """Assigns an id to each call and to its result. Each request has its own instance."""

    def __init__(self) -> None:
        self._count = 0
        self._open: list[tuple[str | None, str]] = []
        """Names and ids of the calls that were assigned one and have no result yet."""

    def parts(self, content: types.Content) -> list[types.Part]:
        """Return the parts of the next content, with ids for the calls and results without one.

        A result without an id belongs to the first unanswered call of its name in the latest
        content with calls.
        """
        parts = content.parts or []
        if any(part.function_call for part in parts):
            self._open = []
        return [self._with_id(part) for part in parts]

    def _with_id(self, part: types.Part) -> types.Part:
        call, response = part.function_call, part.function_response
        if call and not call.id:
            return copy_with(part, function_call=copy_with(call, id=self._new(call.name)))
        if response and not response.id:
            return copy_with(
                part, function_response=copy_with(response, id=self._of(response.name))
            )
        return part

    def _new(self, name: str | None) -> str:
        self._count += 1
        call_id = f"call{self._count:05}"  # nine letters and digits: all that Mistral accepts
        self._open.append((name, call_id))
        return call_id

    def _of(self, name: str | None) -> str | None:
        entry = next((one for one in self._open if one[0] == name), None)
        if entry is None:
            return None
        self._open.remove(entry)
        return entry[1]


def messages(contents: list[types.Content], dialect: Dialect) -> list[Json]:
    """Convert a conversation to messages in which every tool call has a result.

    Args:
        contents: The conversation, oldest first.
        dialect: What the service accepts.
    """
    chat: list[Json] = []
    ids = CallIds()
    for content in contents:
        parts = ids.parts(content)
        chat += [_tool_message(p.function_response, dialect) for p in parts if p.function_response]
        if content.role in ("model", "assistant"):
            others = [part for part in parts if not part.function_response]
            chat += _assistant_messages(others, dialect)
        else:
            chat += _user_messages([one for part in parts for one in _user_parts(part)], dialect)
    return _with_missing_results(chat, dialect.tool_role)


def system_text(instruction: Any) -> str:
    """Return a system instruction, in any form that google-genai accepts, as one text."""
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


def _user_parts(part: types.Part) -> list[types.Part]:
    """Return the media of a part that is a tool's response; otherwise, the part itself."""
    return media(part.function_response) if part.function_response else [part]


def _user_messages(parts: list[types.Part], dialect: Dialect) -> list[Json]:
    pieces = [piece(part, dialect) for part in parts if not part.thought]
    items = [one for one in pieces if one is not None]
    if not items:
        return []
    if len(items) == 1 or dialect.joins_texts:
        texts = [one["text"] for one in items if one["type"] == "text"]
        if len(texts) == len(items):
            return [{"role": "user", "content": "\n".join(texts)}]
    return [{"role": "user", "content": items}]


def _assistant_messages(parts: list[types.Part], dialect: Dialect) -> list[Json]:
    raw_text = "\n".join(part.text for part in parts if part.text and not part.thought)
    text = sendable(raw_text)
    calls = [_tool_call(part, dialect) for part in parts if part.function_call]
    if not text and not calls:
        return []
    message: Json = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    return [message | _thoughts([part for part in parts if part.thought], dialect)]


def _thoughts(parts: list[types.Part], dialect: Dialect) -> Json:
    """Return the fields of a message that send thoughts back to the service."""
    if dialect.thoughts == "blocks" and (thinking_blocks := blocks(parts)):
        return {"thinking_blocks": thinking_blocks}
    text = sendable("".join(part.text or "" for part in parts))
    return {"reasoning_content": text} if text and dialect.thoughts else {}


def _tool_call(part: types.Part, dialect: Dialect) -> Json:
    call = part.function_call
    assert call is not None  # noqa: S101  the caller checked
    arguments = sendable(json.dumps(to_jsonable_python(call.args or {}), ensure_ascii=False))
    tool_call: Json = {
        "id": call.id or "",
        "type": "function",
        "function": {"name": call.name or "", "arguments": arguments},
    }
    if part.thought_signature:  # Gemini's OpenAI-compatible API requires it
        signature = {"thought_signature": signature_text(part.thought_signature)}
        tool_call["extra_content"] = {"google": signature}
        if dialect.litellms:  # litellm reads it here for Gemini's native protocol
            tool_call["provider_specific_fields"] = signature
    return tool_call


def _with_missing_results(messages: list[Json], tool_role: str) -> list[Json]:
    """Add a placeholder for each missing result: without one, services refuse the request."""
    answered_ids = {message["tool_call_id"] for message in messages if message["role"] == tool_role}
    whole: list[Json] = []
    for message in messages:
        missing = [
            one["id"] for one in message.get("tool_calls", ()) if one["id"] not in answered_ids
        ]
        whole.append(message)
        whole += [
            {"role": tool_role, "tool_call_id": call_id, "content": NO_RESULT}
            for call_id in missing
        ]
    return whole
