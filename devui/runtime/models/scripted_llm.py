r"""`ScriptedLlm`: answers by a table of rules, without a network (devui's own).

It is meant for samples, tests and documentation. An answer depends only on the
request, so runs are reproducible to the last byte.

    ScriptedLlm(rules=[
        Rule(user=r"flight to (?P<city>\w+)", then=Call("find_airports", city="{city}")),
        Rule(after="find_airports", then=Say("Fly to {result.0}.", chunks=4)),
        Rule(then=Say("Where do you want to go?")),
    ])

The first rule that matches the request answers it; a rule without conditions
matches every request, so it goes last.
"""

import asyncio
import json
import math
import os
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from google.genai import types
from pydantic import Field, InstanceOf

from devui.runtime.mistakes import brief
from devui.runtime.models.base_llm import BaseLlm, LlmCapabilities
from devui.runtime.models.llm_request import LlmRequest, newest_first
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.quoting import is_quoted

# What rules can match in a request, and the templates filled from it.


_TEMPLATE = re.compile(r"\{([A-Za-z_]\w*(?:\.\w+)*)\}")
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Turn:
    """The end of a conversation: the user's last text and the tool responses since."""

    user_text: str = ""
    """The user's last text; quotes of other agents don't count."""
    results: Mapping[str, Any] = field(default_factory=dict)
    """Results in the last content, by tool; empty if the user spoke last."""
    calls: Counter[str] = field(default_factory=Counter)
    """How often each tool has answered since the user spoke."""

    @classmethod
    def read(cls, newest_first: Iterable[types.Content]) -> "Turn":
        """Read the turn from a conversation's contents, newest first."""
        calls: Counter[str] = Counter()
        results = None
        for content in newest_first:
            results = _results(content) if results is None else results
            text = _user_text(content)
            if text:
                return cls(text, results, calls)
            calls.update(_responses(content))
        return cls("", results or {}, calls)


def fill(template: Any, values: Mapping[str, Any], *, embedded: bool = False) -> Any:
    """Fill `{name.key}` templates in strings, including those within dicts and lists.

    A string that is a single template becomes the value itself, unless `embedded`
    asks for text. Templates without a value stay as they are.
    """
    if isinstance(template, dict):
        return {key: fill(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return [fill(item, values) for item in template]
    if not isinstance(template, str):
        return template
    whole = _TEMPLATE.fullmatch(template)
    if whole and not embedded:
        value = _look_up(whole[1], values)
        return template if value is _MISSING else value
    return _TEMPLATE.sub(lambda match: _as_text(match, values), template)


def _as_text(match: re.Match[str], values: Mapping[str, Any]) -> str:
    value = _look_up(match[1], values)
    if value is _MISSING:
        return match[0]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _look_up(path: str, values: Mapping[str, Any]) -> Any:
    value: Any = values
    for key in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(key, _MISSING)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return _MISSING
    return value


def _user_text(content: types.Content) -> str:
    if content.role != "user" or is_quoted(content):
        return ""
    return "\n".join(part.text for part in content.parts or [] if part.text)


def _responses(content: types.Content) -> list[str]:
    parts = content.parts or []
    return [p.function_response.name or "" for p in parts if p.function_response]


def _results(content: types.Content) -> dict[str, Any]:
    """Return the results in a content, by tool, unwrapped from `{"result": value}`."""
    results = {}
    for part in content.parts or []:
        if part.function_response:
            response = part.function_response.response or {}
            unwrapped = response["result"] if list(response) == ["result"] else response
            results[part.function_response.name or ""] = unwrapped
    return results


REQUESTS_KEPT = 100
SPEED_VARIABLE = "DEVUI_SCRIPT_SPEED"
"""The environment variable that sets how many times as fast every script plays."""
_CHARACTERS_PER_TOKEN = 4


class ScriptError(ValueError):
    """No rule of a ScriptedLlm matches the request, or a rule or the speed is invalid."""


@dataclass(frozen=True, slots=True)
class Say:
    """Text in the answer; `{name}` and `{result.key}` are filled in (see `Rule`)."""

    text: str
    """The text of the response."""
    chunks: int = 1
    """How many fragments the text is split into when the answer is streamed."""
    delay: float = 0.0
    """Seconds to wait before each fragment; without streaming, these add up before the answer."""
    thought: bool = False
    """Whether the text is a thought and not part of the answer."""


@dataclass(frozen=True, slots=True, init=False)
class Call:
    """A function call in the answer: `Call("find_airports", city="{city}")`.

    An argument that is a single template gets the value itself, so
    `Call("pick", options="{result}")` passes on a list as a list.
    """

    name: str
    """The tool's name."""
    args: dict[str, Any]
    """The arguments by name."""

    def __init__(self, name: str, /, **args: Any) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "args", args)


@dataclass(frozen=True, slots=True)
class Fail:
    """A failure of the model: an error response or, with `raises`, an exception.

    What the rule says before it is streamed first, as when a real model breaks off
    in the middle of an answer.
    """

    code: str = "SCRIPTED_FAILURE"
    """The response's `error_code`."""
    message: str = ""
    """The response's `error_message`."""
    raises: BaseException | None = None
    """The exception to raise instead of responding."""


Step = Say | Call | Fail


@dataclass(frozen=True, slots=True)
class Rule:
    """An answer, and the conditions for giving it.

    Templates in `then`: `{name}` for the named groups of `user`, `{user}` for
    the user's whole text, `{result}` and `{result.key.0}` for what the tool
    named by `after` returned. A template without a value stays as it is.
    """

    then: Step | Sequence[Step]
    """The answer; several calls in one list are parallel calls."""
    user: str | None = None
    """Regular expression to find in the user's last text, ignoring case."""
    after: str | None = None
    """Name of a tool whose response must be in the request's last content.

    A rule without `after` but with `user` matches only before tools have responded.
    """
    calls: int = 0
    """How many times, at least, the tool named by `after` must have responded in this turn."""

    def __post_init__(self) -> None:
        """Raise ScriptError if `then` isn't a valid answer."""
        then: Any = self.then
        is_list = isinstance(then, Sequence) and not isinstance(then, str)
        for step in then if is_list else [then]:
            if not isinstance(step, Step):
                raise ScriptError(
                    f"`then` of a Rule contains {brief(step)}; pass a Say, a Call or a Fail, or a"
                    " list of them."
                )

    def match(self, turn: Turn) -> dict[str, Any] | None:
        """Return the values for the templates, or None if the rule doesn't match."""
        values: dict[str, Any] = {"user": turn.user_text}
        if self.user is not None:
            user_match = re.search(self.user, turn.user_text, re.IGNORECASE)
            if user_match is None or (self.after is None and turn.results):
                return None
            values |= {
                key: text for key, text in user_match.groupdict().items() if text is not None
            }
        if self.after is not None:
            if self.after not in turn.results or turn.calls[self.after] < self.calls:
                return None
            values["result"] = turn.results[self.after]
        return values

    @property
    def steps(self) -> Sequence[Step]:
        """`then` as a sequence."""
        return [self.then] if isinstance(self.then, Step) else self.then


class ScriptedLlm(BaseLlm):
    """A deterministic model that answers by rules; see the module's docstring."""

    model: str = "scripted"
    """The model name in answers, by which prices are looked up."""
    rules: Sequence[InstanceOf[Rule]] = ()
    """The rules in order; the first one that matches gives the answer."""
    requests: list[InstanceOf[LlmRequest]] = Field(default_factory=list, exclude=True, repr=False)
    """The last 100 requests received."""

    @property
    def capabilities(self) -> LlmCapabilities:
        """What the model supports: everything, since a script ignores what the request asks for."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer with the first rule that matches.

        Raises:
            ScriptError: no rule matches, or DEVUI_SCRIPT_SPEED is not a number above 0.
            BaseException: the exception of a matching `Fail(raises=...)`.
        """
        self._record(llm_request)
        rule, values = self._find_rule(Turn.read(newest_first(llm_request.contents)))
        parts: list[types.Part] = []
        speed = _speed()
        for step in rule.steps:
            if isinstance(step, Say):
                text = str(fill(step.text, values, embedded=True))
                for piece in _pieces(text, step.chunks):
                    await asyncio.sleep(step.delay / speed)
                    if stream:
                        yield _fragment(self.model, piece, step.thought)
                parts.append(_text_part(text, step.thought))
            elif isinstance(step, Call):
                parts.append(_call_part(step, values))
            else:
                await asyncio.sleep(0)
                yield _failure(self.model, step, parts, llm_request)
                return
        if not any(isinstance(step, Say) for step in rule.steps):
            await asyncio.sleep(0)
        yield _answer(self.model, parts, llm_request)

    def _record(self, llm_request: LlmRequest) -> None:
        self.requests.append(llm_request)
        del self.requests[:-REQUESTS_KEPT]

    def _find_rule(self, turn: Turn) -> tuple[Rule, dict[str, Any]]:
        for rule in self.rules:
            values = rule.match(turn)
            if values is not None:
                return rule, values
        raise ScriptError(
            f"None of the {len(self.rules)} rules of ScriptedLlm {self.model!r} matches:"
            f" the user said {turn.user_text!r}"
            + (f" and tools answered: {', '.join(turn.results)}" if turn.results else "")
            + ". Add a rule for it, or a final one without conditions: Rule(then=Say(...))."
        )


def _speed() -> float:
    text = os.environ.get(SPEED_VARIABLE) or "1"
    try:
        speed = float(text)
    except ValueError:
        speed = math.nan
    if not speed > 0:
        raise ScriptError(f"{SPEED_VARIABLE} is {text!r}; it must be a number above 0, such as 10.")
    return speed


def _pieces(text: str, chunks: int) -> Iterator[str]:
    """Split a text into about equal pieces, between words if there are enough of them."""
    units = re.findall(r"\s*\S+\s*?(?=\s|$)|\s+$", text)
    if len(units) < chunks:
        units = list(text)
    count = max(1, min(chunks, len(units)))
    bounds = [index * len(units) // count for index in range(count + 1)]
    for start, end in pairwise(bounds):
        yield "".join(units[start:end])


def _text_part(text: str, thought: bool) -> types.Part:
    return types.Part(text=text, thought=True) if thought else types.Part(text=text)


def _call_part(step: Call, values: dict[str, Any]) -> types.Part:
    call = types.FunctionCall(name=step.name, args=fill(step.args, values))
    return types.Part(function_call=call)


def _fragment(model: str, text: str, thought: bool) -> LlmResponse:
    # Skip validation: there are many fragments, and their parts are known to be valid.
    part = types.Part.model_construct(text=text, thought=thought or None)
    content = types.Content.model_construct(role="model", parts=[part])
    return LlmResponse.model_construct(content=content, partial=True, model_version=model)


def _answer(model: str, parts: list[types.Part], llm_request: LlmRequest) -> LlmResponse:
    return LlmResponse(
        content=types.Content(role="model", parts=parts),
        finish_reason=types.FinishReason.STOP,
        usage_metadata=_usage(llm_request, parts),
        model_version=model,
    )


def _failure(
    model: str, step: Fail, parts: list[types.Part], llm_request: LlmRequest
) -> LlmResponse:
    if step.raises is not None:
        raise step.raises
    return LlmResponse(
        content=types.Content(role="model", parts=parts) if parts else None,
        error_code=step.code,
        error_message=step.message or None,
        usage_metadata=_usage(llm_request, parts),
        model_version=model,
    )


def _usage(
    llm_request: LlmRequest, answer: list[types.Part]
) -> types.GenerateContentResponseUsageMetadata:
    """Return realistic token counts that depend only on the texts: four characters per token."""
    system = llm_request.config.system_instruction
    size = len(system) if isinstance(system, str) else 0
    for content in llm_request.contents:
        size += sum(_size(part) for part in content.parts or [])
    prompt = _tokens(size)
    thoughts = _tokens(sum(_size(part) for part in answer if part.thought))
    candidates = _tokens(sum(_size(part) for part in answer if not part.thought))
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=prompt,
        candidates_token_count=candidates,
        thoughts_token_count=thoughts or None,
        total_token_count=prompt + candidates + thoughts,
    )


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)


def _size(part: types.Part) -> int:
    """Count the characters of a part that use up tokens."""
    if part.text is not None:
        return len(part.text)
    if part.function_call:
        return len(part.function_call.name or "") + len(str(part.function_call.args or ""))
    if part.function_response:
        return len(str(part.function_response.response or ""))
    return 0
