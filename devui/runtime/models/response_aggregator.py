"""From the chunks of a streamed Gemini answer to fragments and the whole (adk-runtime 7.7)."""

from dataclasses import dataclass, field

from google.genai import types

from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.streamed_call import StreamedCall
from devui.runtime.platform.uuid import new_uuid

NO_CONTENT = "MODEL_RETURNED_NO_CONTENT"


@dataclass(slots=True)
class _TextRun:
    """Neighbouring texts that are all thoughts, or all not; one part of the whole answer."""

    thought: bool
    pieces: list[str] = field(default_factory=list)
    signature: bytes | None = None

    def part(self) -> types.Part:
        # The model wants its signature back verbatim, so it must survive the merging.
        return types.Part(
            text="".join(self.pieces),
            thought=self.thought or None,
            thought_signature=self.signature,
        )


class ResponseAggregator:
    """Turns each chunk into a fragment, and all of them into the whole answer.

    The order of parts is kept: text of one kind is joined, everything else stands
    where it came. Function calls without an id get one here, so that the fragment
    and the whole answer name a call alike.
    """

    def __init__(self) -> None:
        self._entries: list[_TextRun | StreamedCall | types.Part] = []
        self._open_call: StreamedCall | None = None
        self._open_text: _TextRun | None = None
        self._whole = LlmResponse()

    def add(self, chunk: types.GenerateContentResponse) -> LlmResponse | None:
        """Take a chunk in; its fragment, or None when it shows nothing.

        Of several answers that were asked for only the first counts.
        """
        if chunk.candidates and any(each.index for each in chunk.candidates):
            first = [each for each in chunk.candidates if not each.index]
            if not first:
                self._whole.usage_metadata = chunk.usage_metadata or self._whole.usage_metadata
                return None
            chunk = chunk.model_copy(update={"candidates": first})
        response = LlmResponse.create(chunk)
        self._remember(response)
        if chunk.candidates and chunk.candidates[0].finish_message:
            self._whole.error_message = chunk.candidates[0].finish_message
        parts = response.content.parts if response.content else None
        for part in parts or []:
            self._take(part)
        if not parts:
            return None
        response.partial = True
        return response

    def whole(self) -> LlmResponse:
        """The answer made of all chunks; an error when it did not end as it should."""
        parts = _without_repeats([_part(entry) for entry in self._entries if _is_named(entry)])
        whole = self._whole
        whole.content = types.Content(role="model", parts=parts) if parts else None
        whole.partial = False
        reason = whole.finish_reason
        if reason is not None and reason != types.FinishReason.STOP:
            whole.error_code = whole.error_code or reason.value
        elif whole.content is None and whole.error_code is None:
            whole.error_code = NO_CONTENT
            whole.error_message = "The model ended its answer without saying anything."
        return whole

    def _remember(self, response: LlmResponse) -> None:
        """Keep the last value of what chunks report once, or again and again."""
        for name in _REPORTED:
            value = getattr(response, name)
            if value is not None:
                setattr(self._whole, name, value)

    def _take(self, part: types.Part) -> None:
        if part.text:
            run = self._text_run(bool(part.thought))
            run.pieces.append(part.text)
            run.signature = run.signature or part.thought_signature
        elif part.function_call:
            self._take_call(part, part.function_call)
        else:
            self._enter(part)

    def _enter(self, entry: StreamedCall | types.Part) -> None:
        self._entries.append(entry)
        self._open_text = None

    def _text_run(self, thought: bool) -> _TextRun:
        run = self._open_text
        if run is None or run.thought != thought:
            run = self._open_text = _TextRun(thought)
            self._entries.append(run)
        return run

    def _take_call(self, part: types.Part, call: types.FunctionCall) -> None:
        open_call = self._open_call
        if open_call is not None and open_call.open and open_call.continues(call):
            call.id = open_call.id
            open_call.add(part, call)
            if not open_call.open:
                self._open_text = None  # what is said now is said behind the call
            return
        if open_call is not None:
            open_call.open = False  # another call begins
        call.id = call.id or f"adk-{new_uuid()}"
        if StreamedCall.begins(call):
            self._open_call = StreamedCall(id=call.id, name=call.name or "")
            self._open_call.add(part, call)
            self._enter(self._open_call)
        else:
            self._enter(part)


_REPORTED = (
    "usage_metadata",
    "grounding_metadata",
    "citation_metadata",
    "finish_reason",
    "model_version",
    "error_code",
    "error_message",
)


def _part(entry: _TextRun | StreamedCall | types.Part) -> types.Part:
    return entry if isinstance(entry, types.Part) else entry.part()


def _is_named(entry: _TextRun | StreamedCall | types.Part) -> bool:
    """Whether it is no call of which the name never came: nobody could answer that."""
    if isinstance(entry, StreamedCall):
        return bool(entry.name)
    call = None if isinstance(entry, _TextRun) else entry.function_call
    return call is None or bool(call.name)


def _without_repeats(parts: list[types.Part]) -> list[types.Part]:
    """Leave out calls that repeat the id of an earlier one: some servers send them twice."""
    seen: set[str] = set()
    kept = []
    for part in parts:
        call_id = part.function_call.id if part.function_call else None
        if call_id is not None and call_id in seen:
            continue
        if call_id is not None:
            seen.add(call_id)
        kept.append(part)
    return kept
