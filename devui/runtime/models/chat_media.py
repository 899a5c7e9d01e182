"""A user's texts, pictures, sounds and files in chat completions (adk-runtime 9.4)."""

import base64
import mimetypes
from urllib.parse import urlsplit

from google.genai import types

from devui.runtime.halves import sendable
from devui.runtime.models.chat_dialect import Dialect, Json

_ANY = "application/octet-stream"
_UPLOADED = ("file-", "assistant-")
"""How the ids begin that OpenAI gives to files that were uploaded."""
_SOUNDS = {"mpeg": "mp3", "wave": "wav", "vnd.wave": "wav"}
"""Formats of sounds whose media type has another name."""
_SHOWN = {"image": "image_url", "video": "video_url"}
"""Kinds of media that have a place of their own."""


def piece(part: types.Part, dialect: Dialect) -> Json | None:
    """One part of a user's message; None for what has no place in it."""
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
    """What a tool returned beside its result: messages with results have texts alone."""
    found: list[types.Part] = []
    for given in response.parts or []:
        if (blob := given.inline_data) and blob.mime_type:
            inline = types.Blob(data=blob.data, mime_type=blob.mime_type)
            found.append(types.Part(inline_data=inline))
        elif file := given.file_data:
            there = types.FileData(file_uri=file.file_uri, mime_type=file.mime_type)
            found.append(types.Part(file_data=there))
    return found


def _text(text: str) -> Json:
    return {"type": "text", "text": sendable(text)}


def _inline(blob: types.Blob, data: bytes) -> Json:
    mime = _plain(blob.mime_type or _ANY)
    kind, _, subtype = mime.partition("/")
    if kind == "text":
        return _text(_decoded(data))
    encoded = base64.b64encode(data).decode()
    if kind == "audio":
        sound = subtype.removeprefix("x-")
        said = {"data": encoded, "format": _SOUNDS.get(sound, sound)}
        return {"type": "input_audio", "input_audio": said}
    url = f"data:{mime};base64,{encoded}"
    if kind in _SHOWN:
        return _shown(kind, url)
    name = blob.display_name or f"file.{subtype}"
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def _file(file: types.FileData, uri: str, dialect: Dialect) -> Json:
    mime = _plain(file.mime_type or _guessed(uri) or _guessed(file.display_name or "") or _ANY)
    kind = mime.partition("/")[0]
    if uri.startswith(_UPLOADED) and not dialect.files:
        return {"type": "file", "file": {"file_id": uri}}
    if uri.startswith(("https://", "http://")) and kind in _SHOWN and not dialect.geminis:
        return _shown(kind, uri)
    if dialect.files and mime != _ANY:
        return {"type": "file", "file": {"file_id": uri, "format": mime}}
    return _text(f"[File {file.display_name or uri} ({file.mime_type or 'unknown type'}): {uri}]")


def _shown(kind: str, url: str) -> Json:
    return {"type": _SHOWN[kind], _SHOWN[kind]: {"url": url}}


def _plain(mime: str) -> str:
    """A media type without its parameters."""
    return mime.partition(";")[0].strip().lower()


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _guessed(address: str) -> str | None:
    """The media type by the end of an address; a version behind the file's name does not count."""
    steps = [step for step in urlsplit(address).path.split("/") if step]
    while len(steps) > 1 and (steps[-1].isdigit() or steps[-1] in ("version", "versions")):
        steps.pop()
    return mimetypes.guess_type(steps[-1])[0] if steps else None
