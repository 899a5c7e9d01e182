"""Assembles a streamed Gemini answer from its chunks (adk-runtime 7.7)."""

import re
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.platform.uuid import new_uuid

# A function call whose arguments arrive piece by piece (adk-runtime 7.7).


# A JSON path as Gemini writes it: $.flights[0].city or $.flights[0]['the city'].
_STEP = re.compile(
    r"\.?((?:[^.\[\]\\]|\\.)+)|\[\s*(\d+)\s*\]"
    r"|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]"
)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_LONGEST_LIST = 10_000


@dataclass(slots=True)
class StreamedCall:
    """One call, assembled from chunks with `partial_args`."""

    id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    signature: bytes | None = None
    open: bool = True
    """Whether more chunks of this call are expected."""
    _texts: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def begins(call: types.FunctionCall) -> bool:
        """Return whether a chunk is the first of several for its call."""
        return bool(call.partial_args) or call.will_continue is not None

    def continues(self, call: types.FunctionCall) -> bool:
        """Return whether a chunk continues this call."""
        return (not self.name or call.name in (None, "", self.name)) and not call.args

    def add(self, part: types.Part, call: types.FunctionCall) -> None:
        """Add the arguments of one chunk."""
        self.name = self.name or call.name or ""
        self.args.update(call.args or {})
        self.signature = self.signature or part.thought_signature
        for partial in call.partial_args or []:
            self._add_argument(partial)
        self.open = bool(call.will_continue)

    def part(self) -> types.Part:
        """Return the call with all its arguments."""
        for path, pieces in self._texts.items():
            _place(self.args, _steps(path), "".join(pieces))
        call = types.FunctionCall(id=self.id, name=self.name, args=self.args)
        return types.Part(function_call=call, thought_signature=self.signature)

    def _add_argument(self, partial: types.PartialArg) -> None:
        path = partial.json_path
        if not path:
            return
        if partial.string_value is not None:
            if path not in self._texts:
                _place(self.args, _steps(path), "")  # keeps the arguments in order of arrival
            self._texts.setdefault(path, []).append(partial.string_value)
        elif partial.number_value is not None:
            self._replace(path, partial.number_value)
        elif partial.bool_value is not None:
            self._replace(path, partial.bool_value)
        elif partial.null_value is not None:
            self._replace(path, None)

    def _replace(self, path: str, value: Any) -> None:
        self._texts.pop(path, None)
        _place(self.args, _steps(path), value)


def _steps(path: str) -> list[str | int]:
    """Split a JSON path into its keys and indexes."""
    steps: list[str | int] = []
    for match in _STEP.finditer(path.removeprefix("$")):
        name, index, single, double = match.groups()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(_ESCAPED.sub(_unescaped, name or single or double or ""))
    return steps


def _unescaped(match: re.Match[str]) -> str:
    code, sign = match.groups()
    return chr(int(code, 16)) if code else _CONTROLS.get(sign, sign)


def _place(target: Any, steps: list[str | int], value: Any) -> None:
    """Put a value at a path, creating missing dicts and lists; an empty path does nothing."""
    for step, following in zip(steps, [*steps[1:], None], strict=False):
        fits = isinstance(target, list if isinstance(step, int) else dict)
        if not fits:
            return  # the path contradicts what was sent before
        if isinstance(step, int):
            if step >= _LONGEST_LIST:
                return
            target.extend([None] * (step + 1 - len(target)))
        if following is None:
            target[step] = value
            return
        if isinstance(step, str):
            target.setdefault(step, None)
        if target[step] is None:
            target[step] = [] if isinstance(following, int) else {}
        target = target[step]


NO_CONTENT = "MODEL_RETURNED_NO_CONTENT"


@dataclass(slots=True)
class _TextRun:
    """Adjacent texts, all thoughts or none; one part of the complete answer."""

    thought: bool
    pieces: list[str] = field(default_factory=list)
    signature: bytes | None = None

    def part(self) -> types.Part:
        # The model needs its signature back verbatim, so merging must preserve it.
        return types.Part(
            text="".join(self.pieces),
            thought=self.thought or None,
            thought_signature=self.signature,
        )


class ResponseAggregator:
    """Turns each chunk into a fragment, and all of them into the complete answer.

    Parts keep their order; adjacent texts of one kind are joined. Function calls without an id
    get one here, so that a call has the same id in the fragment and in the complete answer.
    """

    def __init__(self) -> None:
        self._entries: list[_TextRun | StreamedCall | types.Part] = []
        self._open_call: StreamedCall | None = None
        self._open_text: _TextRun | None = None
        self._whole = LlmResponse()

    def add(self, chunk: types.GenerateContentResponse) -> LlmResponse | None:
        """Add a chunk; return its fragment, or None if it has nothing to show.

        If several candidates were requested, only the first counts.
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
        """Return the answer from all chunks: an error if it ended abnormally."""
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
        """Keep the latest value of each field that chunks report once or repeatedly."""
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
                self._open_text = None  # text from now on comes after the call
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
    """Return False for a call whose name never arrived, since nothing could answer it."""
    if isinstance(entry, StreamedCall):
        return bool(entry.name)
    call = None if isinstance(entry, _TextRun) else entry.function_call
    return call is None or bool(call.name)


def _without_repeats(parts: list[types.Part]) -> list[types.Part]:
    """Remove calls that repeat the id of an earlier one: some servers send calls twice."""
    seen: set[str] = set()
    unique = []
    for part in parts:
        call_id = part.function_call.id if part.function_call else None
        if call_id is not None and call_id in seen:
            continue
        if call_id is not None:
            seen.add(call_id)
        unique.append(part)
    return unique
