"""A content in ADK's wire form, with every field that google-genai has (adk-web 1.5).

The server imports no google-genai, so what a runtime could not read is found here, before anything
is written. Values of enumerations are any text, as for google-genai, which may know newer ones.
"""

import base64
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class WireObject(BaseModel):
    """A JSON object in camelCase or snake_case, in which an unknown member is a mistake."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


def _base64(text: str) -> str:
    """The text, if it is base64 in one of the alphabets, padded or not. Raises ValueError."""
    plain = text.rstrip("=")
    whole = plain + "=" * (-len(plain) % 4)
    altchars = b"-_" if set(text) & {"-", "_"} else b"+/"
    data = base64.b64decode(whole, altchars, validate=True)
    if text not in {plain, whole} or base64.b64encode(data, altchars).decode() != whole:
        raise ValueError("must be base64")
    return text


Base64 = Annotated[str, AfterValidator(_base64)]


class FileData(WireObject):
    """A file elsewhere."""

    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class Blob(WireObject):
    """Inline bytes."""

    data: Base64 | None = None
    mime_type: str | None = None
    display_name: str | None = None


class MediaResolution(WireObject):
    """How closely a model is to look."""

    level: str | None = None
    num_tokens: int | None = None


class VideoMetadata(WireObject):
    """Which part of a video is meant."""

    start_offset: str | None = None
    end_offset: str | None = None
    fps: float | None = None
    content_layers: list[str] | None = None


class AudioMetadata(WireObject):
    """Which part of a recording is meant."""

    start_offset: str | None = None
    end_offset: str | None = None


class DocumentMetadata(WireObject):
    """Which pages are meant."""

    start_page: int | None = None
    end_page: int | None = None
    content_layers: list[str] | None = None


class SpreadsheetMetadata(WireObject):
    """Which cells are meant."""

    visible_cells: str | None = None
    sheet_index: int | None = None
    content_layers: list[str] | None = None


class PartialArg(WireObject):
    """A piece of an argument that is streamed."""

    json_path: str | None = None
    bool_value: bool | None = None
    null_value: Literal["NULL_VALUE"] | None = None
    number_value: float | None = None
    string_value: str | None = None
    will_continue: bool | None = None


class FunctionCall(WireObject):
    """A call that the model asks for."""

    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None
    partial_args: list[PartialArg] | None = None
    will_continue: bool | None = None


class FunctionResponsePart(WireObject):
    """A file in the answer to a call."""

    inline_data: Blob | None = None
    file_data: FileData | None = None
    media_processing: str | None = None
    media_resolution: MediaResolution | None = None
    video_metadata: VideoMetadata | None = None
    audio_metadata: AudioMetadata | None = None
    document_metadata: DocumentMetadata | None = None
    spreadsheet_metadata: SpreadsheetMetadata | None = None


class FunctionResponse(WireObject):
    """The answer to a call, a person's included."""

    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None
    parts: list[FunctionResponsePart] | None = None
    scheduling: str | None = None
    will_continue: bool | None = None


class ToolCall(WireObject):
    """A call of a tool that runs beside the model."""

    id: str | None = None
    tool_type: str | None = None
    args: dict[str, Any] | None = None


class ToolResponse(WireObject):
    """The outcome."""

    id: str | None = None
    tool_type: str | None = None
    response: dict[str, Any] | None = None


class ExecutableCode(WireObject):
    """Code that a model wrote."""

    id: str | None = None
    code: str | None = None
    language: str | None = None


class CodeExecutionResult(WireObject):
    """The outcome."""

    id: str | None = None
    outcome: str | None = None
    output: str | None = None


class WordInfo(WireObject):
    """A spoken word."""

    word: str | None = None
    start_offset: str | None = None
    end_offset: str | None = None


class Transcription(WireObject):
    """What is said in a recording."""

    text: str | None = None
    finished: bool | None = None
    language_code: str | None = None
    speaker_label: str | None = None
    words: list[WordInfo] | None = None
    start_offset: str | None = None
    end_offset: str | None = None


class SpeechMetadata(WireObject):
    """How a text is to be spoken."""

    speaker: str | None = None
    style: str | None = None


class Part(WireObject):
    """One part of a content."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: Base64 | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    executable_code: ExecutableCode | None = None
    code_execution_result: CodeExecutionResult | None = None
    tool_call: ToolCall | None = None
    tool_response: ToolResponse | None = None
    media_processing: str | None = None
    media_resolution: MediaResolution | None = None
    video_metadata: VideoMetadata | None = None
    audio_metadata: AudioMetadata | None = None
    document_metadata: DocumentMetadata | None = None
    spreadsheet_metadata: SpreadsheetMetadata | None = None
    speech_metadata: SpeechMetadata | None = None
    audio_transcription: Transcription | None = None
    part_metadata: dict[str, Any] | None = None


class Content(WireObject):
    """What somebody says: a role and its parts."""

    role: str | None = None
    parts: list[Part] | None = None
