"""Contents as messages of OpenAI's chat completions, which many speak (adk-runtime 9.4)."""

import base64
import json
from typing import Any

from google.genai import types
from pydantic_core import to_jsonable_python

Json = dict[str, Any]

_NO_RESULT = "There is no result: the call was not finished."
_AUDIO = {"audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav", "audio/x-wav": "wav"}


def messages(contents: list[types.Content], *, with_thoughts: bool = False) -> list[Json]:
    """The conversation as messages; every tool call is followed by its result.

    Args:
        contents: The conversation, oldest first.
        with_thoughts: Whether the model's thoughts are sent back, as `reasoning_content`.
    """
    found: list[Json] = []
    for content in contents:
        parts = content.parts or []
        found += [_tool_message(p.function_response) for p in parts if p.function_response]
        others = [part for part in parts if not part.function_response]
        if content.role in ("model", "assistant"):
            found += _assistant_messages(others, with_thoughts=with_thoughts)
        else:
            found += _user_messages(others)
    return _answered(found)


def system_text(instruction: Any) -> str:
    """A system instruction of any kind that google-genai takes, as one text."""
    if instruction is None or isinstance(instruction, str):
        return instruction or ""
    if isinstance(instruction, types.Content):
        instruction = instruction.parts or []
    if isinstance(instruction, types.Part):
        return instruction.text or ""
    if isinstance(instruction, dict):
        kind = types.Content if "parts" in instruction else types.Part
        return system_text(kind.model_validate(instruction))
    return "\n\n".join(filter(None, map(system_text, instruction)))


def _tool_message(response: types.FunctionResponse) -> Json:
    value = to_jsonable_python(response.response, serialize_unknown=True)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"role": "tool", "tool_call_id": response.id or "", "content": text}


def _user_messages(parts: list[types.Part]) -> list[Json]:
    pieces = [_piece(part) for part in parts if not part.thought]
    kept = [piece for piece in pieces if piece is not None]
    if not kept:
        return []
    if len(kept) == 1 and kept[0]["type"] == "text":
        return [{"role": "user", "content": kept[0]["text"]}]
    return [{"role": "user", "content": kept}]


def _assistant_messages(parts: list[types.Part], *, with_thoughts: bool) -> list[Json]:
    text = "\n".join(part.text for part in parts if part.text and not part.thought)
    thoughts = "".join(part.text for part in parts if part.text and part.thought)
    calls = [_tool_call(part) for part in parts if part.function_call]
    if not text and not calls:
        return []
    message: Json = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    if thoughts and with_thoughts:
        message["reasoning_content"] = thoughts
    return [message]


def _tool_call(part: types.Part) -> Json:
    call = part.function_call
    assert call is not None  # noqa: S101  the caller looked
    arguments = json.dumps(to_jsonable_python(call.args or {}), ensure_ascii=False)
    found: Json = {
        "id": call.id or "",
        "type": "function",
        "function": {"name": call.name or "", "arguments": arguments},
    }
    if part.thought_signature:  # Gemini, spoken to in OpenAI's way, wants it back
        signature = base64.b64encode(part.thought_signature).decode()
        found["extra_content"] = {"google": {"thought_signature": signature}}
    return found


def _piece(part: types.Part) -> Json | None:
    """One part of a user's message; None for what has no place in it."""
    if part.text:
        return _text(part.text)
    if part.inline_data and part.inline_data.data:
        return _inline(part.inline_data, part.inline_data.data)
    if part.file_data and part.file_data.file_uri:
        return _file(part.file_data, part.file_data.file_uri)
    if part.executable_code and part.executable_code.code:
        return _text(f"```\n{part.executable_code.code}\n```")
    if part.code_execution_result and part.code_execution_result.output:
        return _text(f"```\n{part.code_execution_result.output}\n```")
    return None


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _inline(blob: types.Blob, data: bytes) -> Json:
    mime = blob.mime_type or "application/octet-stream"
    if mime.startswith("text/"):
        return _text(data.decode(errors="replace"))
    encoded = base64.b64encode(data).decode()
    if mime in _AUDIO:
        return {"type": "input_audio", "input_audio": {"data": encoded, "format": _AUDIO[mime]}}
    url = f"data:{mime};base64,{encoded}"
    if mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    name = blob.display_name or f"file.{mime.rpartition('/')[2]}"
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def _file(file: types.FileData, uri: str) -> Json:
    if uri.startswith("https://") and (file.mime_type or "").startswith("image/"):
        return {"type": "image_url", "image_url": {"url": uri}}
    if uri.startswith("file-"):
        return {"type": "file", "file": {"file_id": uri}}
    return _text(f"[File {file.display_name or uri} ({file.mime_type or 'unknown type'}): {uri}]")


def _answered(found: list[Json]) -> list[Json]:
    """The messages with a stand-in for each missing result, without which services refuse all."""
    answered = {message["tool_call_id"] for message in found if message["role"] == "tool"}
    whole: list[Json] = []
    for message in found:
        missing = [one["id"] for one in message.get("tool_calls", ()) if one["id"] not in answered]
        whole += [message, *map(_stand_in, missing)]
    return whole


def _stand_in(call_id: str) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": _NO_RESULT}
