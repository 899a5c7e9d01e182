"""A model with scripted answers, for either runtime."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from google.genai import types
from pydantic import TypeAdapter

from tests.differential.namespace import Namespace


class Boom(Exception):
    """The exception that the code of cases raises."""


@dataclass(frozen=True)
class Say:
    """A text, streamed in as many fragments as there are chunks."""

    text: str
    chunks: int = 1
    thought: bool = False


@dataclass(frozen=True)
class Call:
    """A function call."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Error:
    """An error response."""

    code: str = "SCRIPTED"


@dataclass(frozen=True)
class Raise:
    """An exception raised by the model."""

    message: str = "boom"


@dataclass(frozen=True)
class Raw:
    """An LlmResponse with these fields."""

    fields: dict[str, Any]


Step = Say | Call | Error | Raise | Raw
Answer = Step | str | Sequence["Step | str"]


def call(name: str, /, **args: Any) -> Call:
    """Return a function call with these arguments."""
    return Call(name, args)


def transfer(name: str) -> Call:
    """Return the call that transfers to another agent."""
    return Call("transfer_to_agent", {"agent_name": name})


def steps(answer: Answer) -> list[Step]:
    """Return an answer as steps; a plain string becomes a `Say`."""
    several = [answer] if isinstance(answer, str | Step) else answer
    return [Say(step) if isinstance(step, str) else step for step in several]


def part(step: Say | Call) -> types.Part:
    """Return the content part for a step."""
    if isinstance(step, Say):
        return types.Part(text=step.text, thought=step.thought or None)
    function_call = types.FunctionCall(id=step.id, name=step.name, args=step.args)
    return types.Part(function_call=function_call)


def fragments(step: Say | Call) -> list[types.Part]:
    """Return the parts in which a step is streamed."""
    if isinstance(step, Call):
        return [part(step)]
    size = -(-len(step.text) // step.chunks) or 1
    texts = [step.text[i : i + size] for i in range(0, len(step.text), size)]
    return [types.Part(text=text, thought=step.thought or None) for text in texts]


def responses(ns: Namespace, answer: list[Step], stream: bool) -> list[Any]:
    """Return what the model yields: fragments if it streams, then the answer or an exception."""
    raw = [ns.LlmResponse(**step.fields) for step in answer if isinstance(step, Raw)]
    if raw:
        return raw
    content_steps = [step for step in answer if isinstance(step, Say | Call)]
    partials: list[Any] = []
    if stream:
        pieces = [piece for step in content_steps for piece in fragments(step)]
        partials = [
            ns.LlmResponse(content=types.Content(role="model", parts=[piece]), partial=True)
            for piece in pieces
        ]
    for step in answer:
        if isinstance(step, Raise):
            return [*partials, Boom(step.message)]
        if isinstance(step, Error):
            return [*partials, ns.LlmResponse(error_code=step.code, error_message="boom")]
    whole = types.Content(role="model", parts=[part(step) for step in content_steps])
    return [*partials, ns.LlmResponse(content=whole, finish_reason=types.FinishReason.STOP)]


def scripted(ns: Namespace, label: str, answers: Sequence[Answer], requests: list[Any]) -> Any:
    """Return a model that gives its answers in order and records its requests."""
    remaining = [steps(answer) for answer in answers]

    class Scripted(ns.BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            requests.append((label, stream, llm_request.model, *_snapshot(llm_request)))
            answer = remaining.pop(0) if remaining else [Say("Nothing more.")]
            for response in responses(ns, answer, stream):
                if isinstance(response, Exception):
                    raise response
                yield response

    return Scripted(model="scripted")


def _snapshot(request: Any) -> tuple[Any, Any]:
    contents = [_dump(content) for content in request.contents]
    schema = request.config.response_schema
    if schema is None or isinstance(schema, dict | types.Schema):
        return contents, _dump(request.config)
    # A class or a generic type, which can't be dumped as JSON.
    config = _dump(request.config.model_copy(update={"response_schema": None}))
    return contents, config | {"responseSchema": TypeAdapter(schema).json_schema()}


def _dump(model: Any) -> Any:
    return model.model_dump(mode="json", exclude_none=True, by_alias=True, serialize_as_any=True)
