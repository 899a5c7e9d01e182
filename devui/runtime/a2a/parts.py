"""Parts of contents as parts of A2A messages, and back (adk-runtime 14).

A2A knows text, files and data. What else a part may be travels as data that is marked with its
kind, as google-adk marks it, so that two such agents understand each other.
"""

import base64
import json
from typing import Any

from a2a.types import Part
from google.genai import types
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from pydantic import BaseModel

THOUGHT = "adk_thought"
KIND = "adk_type"
SIGNATURE = "adk_thought_signature"
LONG_RUNNING = "adk_is_long_running"
"""Keys of a part's metadata."""

_MODELS: dict[str, type[BaseModel]] = {
    "function_call": types.FunctionCall,
    "function_response": types.FunctionResponse,
    "code_execution_result": types.CodeExecutionResult,
    "executable_code": types.ExecutableCode,
}
"""Fields of a part that travel as data."""
_BEGIN, _END = b"<a2a_datapart_json>", b"</a2a_datapart_json>"
"""Around data without a kind, which a content holds as a text file."""
_TEXT_FILE = "text/plain"


def to_a2a(part: types.Part) -> Part | None:
    """The part as another server gets it; None if A2A has no form for it."""
    made = _with_content(part)
    if made is None:
        return None
    metadata = made[1] | (part.part_metadata or {})
    if metadata:
        ParseDict(metadata, made[0].metadata)
    return made[0]


def from_a2a(part: Part) -> types.Part | None:
    """The part as a content holds it; None if it is of a kind that nobody knows."""
    metadata = MessageToDict(part.metadata)
    made = _as_content(part, metadata)
    if made is not None and metadata:
        made.part_metadata = metadata
    return made


def is_long_running(part: Part) -> bool:
    """Whether it is a function call that the other server waits to have answered."""
    return bool(MessageToDict(part.metadata).get(LONG_RUNNING) is True)


def data_of(part: types.Part) -> Any:
    """The data that a part holds which came as data without a kind; None for other parts."""
    blob = part.inline_data
    if blob is None or blob.mime_type != _TEXT_FILE or not blob.data:
        return None
    if not (blob.data.startswith(_BEGIN) and blob.data.endswith(_END)):
        return None
    try:
        return json.loads(blob.data[len(_BEGIN) : -len(_END)])
    except ValueError:
        return None  # a text of the user's that only looks like it


def _with_content(part: types.Part) -> tuple[Part, dict[str, Any]] | None:
    """What it holds, and what has to be known of that."""
    if part.text is not None:
        return Part(text=part.text), {} if part.thought is None else {THOUGHT: part.thought}
    if (data := data_of(part)) is not None:
        return _data_part(data), {}
    if (file := _file_part(part)) is not None:
        return file, {}
    for kind in _MODELS:
        if (held := getattr(part, kind)) is not None:
            marks = {KIND: kind}
            if part.thought_signature is not None:
                marks[SIGNATURE] = base64.b64encode(part.thought_signature).decode()
            return _data_part(held.model_dump(mode="json", by_alias=True, exclude_none=True)), marks
    return None


def _file_part(part: types.Part) -> Part | None:
    if (file := part.file_data) is not None:
        return Part(
            url=file.file_uri or "", media_type=file.mime_type or "", filename=file.display_name
        )
    if (blob := part.inline_data) is not None and blob.data is not None:
        return Part(raw=blob.data, media_type=blob.mime_type or "", filename=blob.display_name)
    return None


def _data_part(data: Any) -> Part:
    return Part(data=ParseDict(data, Value()))


def _as_content(part: Part, metadata: dict[str, Any]) -> types.Part | None:
    media_type, name = part.media_type or None, part.filename or None
    match part.WhichOneof("content"):
        case "text":
            return types.Part(text=part.text, thought=metadata.get(THOUGHT))
        case "url":
            file = types.FileData(file_uri=part.url, mime_type=media_type, display_name=name)
            return types.Part(file_data=file)
        case "raw":
            blob = types.Blob(data=part.raw, mime_type=media_type, display_name=name)
            return types.Part(inline_data=blob)
        case "data":
            return _from_data(MessageToDict(part.data), metadata)
        case _:
            return None


def _from_data(data: Any, metadata: dict[str, Any]) -> types.Part:
    if (kind := metadata.get(KIND)) in _MODELS:
        try:
            signature = base64.b64decode(metadata.get(SIGNATURE, "")) or None
            held = {kind: _MODELS[kind].model_validate(data), "thought_signature": signature}
            return types.Part.model_validate(held)
        except (TypeError, ValueError):
            pass  # marked as what it is not; it is kept as the data that it is
    blob = types.Blob(
        data=_BEGIN + json.dumps(data, sort_keys=True).encode() + _END, mime_type=_TEXT_FILE
    )
    return types.Part(inline_data=blob)
