"""Contents in ADK's wire form, with every field that google-genai has (adk-web 1.5).

The server doesn't import google-genai, so these models reject what a runtime couldn't read, before
anything is written. Enumerations accept any text, as google-genai does: it may know newer values.
"""

import base64
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class WireObject(BaseModel):
    """A JSON object in camelCase or snake_case; unknown members are errors."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


def _base64(text: str) -> str:
    """Return the text if it is base64, in either alphabet, padded or not; else raise ValueError."""
    plain = text.rstrip("=")
    whole = plain + "=" * (-len(plain) % 4)
    altchars = b"-_" if set(text) & {"-", "_"} else b"+/"
    data = base64.b64decode(whole, altchars, validate=True)
    if text not in {plain, whole} or base64.b64encode(data, altchars).decode() != whole:
        raise ValueError("must be base64")
    return text


Base64 = Annotated[str, AfterValidator(_base64)]


class FileData(WireObject):
    """A reference to a file stored elsewhere."""

    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class Blob(WireObject):
    """Inline bytes."""

    data: Base64 | None = None
    mime_type: str | None = None
    display_name: str | None = None


class MediaResolution(WireObject):
    """The resolution at which a model processes a medium."""

    level: str | None = None
    num_tokens: int | None = None


class VideoMetadata(WireObject):
    """The part of a video to use."""

    start_offset: str | None = None
    end_offset: str | None = None
    fps: float | None = None
    content_layers: list[str] | None = None


class AudioMetadata(WireObject):
    """The part of an audio recording to use."""

    start_offset: str | None = None
    end_offset: str | None = None


class DocumentMetadata(WireObject):
    """The pages of a document to use."""

    start_page: int | None = None
    end_page: int | None = None
    content_layers: list[str] | None = None


class SpreadsheetMetadata(WireObject):
    """The cells of a spreadsheet to use."""

    visible_cells: str | None = None
    sheet_index: int | None = None
    content_layers: list[str] | None = None


class PartialArg(WireObject):
    """A piece of a streamed argument."""

    json_path: str | None = None
    bool_value: bool | None = None
    null_value: Literal["NULL_VALUE"] | None = None
    number_value: float | None = None
    string_value: str | None = None
    will_continue: bool | None = None


class FunctionCall(WireObject):
    """A tool call requested by the model."""

    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None
    partial_args: list[PartialArg] | None = None
    will_continue: bool | None = None


class FunctionResponsePart(WireObject):
    """A file in the response to a call."""

    inline_data: Blob | None = None
    file_data: FileData | None = None
    media_processing: str | None = None
    media_resolution: MediaResolution | None = None
    video_metadata: VideoMetadata | None = None
    audio_metadata: AudioMetadata | None = None
    document_metadata: DocumentMetadata | None = None
    spreadsheet_metadata: SpreadsheetMetadata | None = None


class FunctionResponse(WireObject):
    """The response to a call, whether a tool's or a person's."""

    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None
    parts: list[FunctionResponsePart] | None = None
    scheduling: str | None = None
    will_continue: bool | None = None


class ToolCall(WireObject):
    """A call of a tool that runs on the model's side."""

    id: str | None = None
    tool_type: str | None = None
    args: dict[str, Any] | None = None


class ToolResponse(WireObject):
    """The result of a `ToolCall`."""

    id: str | None = None
    tool_type: str | None = None
    response: dict[str, Any] | None = None


class ExecutableCode(WireObject):
    """Code written by a model."""

    id: str | None = None
    code: str | None = None
    language: str | None = None


class CodeExecutionResult(WireObject):
    """The result of running an `ExecutableCode`."""

    id: str | None = None
    outcome: str | None = None
    output: str | None = None


class WordInfo(WireObject):
    """A spoken word."""

    word: str | None = None
    start_offset: str | None = None
    end_offset: str | None = None


class Transcription(WireObject):
    """The transcript of an audio recording."""

    text: str | None = None
    finished: bool | None = None
    language_code: str | None = None
    speaker_label: str | None = None
    words: list[WordInfo] | None = None
    start_offset: str | None = None
    end_offset: str | None = None


class SpeechMetadata(WireObject):
    """How to speak a text."""

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
    """A message: a role and its parts."""

    role: str | None = None
    parts: list[Part] | None = None
