"""What agents did, as spans: runs of agents, calls of models and tools (decisions/0009)."""

from dataclasses import dataclass
from typing import Literal

SpanKind = Literal["agent", "model", "tool"]

CANCELLED = "cancelled"
"""What a span that was broken off has for its error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request to a model after the last callback, in pieces that are sent and stored once."""

    model: str | None
    system: str | None
    tools: str | None
    config: str | None
    """Settings of the generation, without system instruction, tools and what concerns HTTP."""
    contents: list[str]
    """The conversation, oldest first. All of these are names of pieces."""
    pieces: dict[str, str]
    """By name, a hash of it: the JSON text of each piece that was not sent before."""
    stream: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanBegan:
    """An agent, a model call or a tool call began."""

    run: str
    span: int
    """Its number, unique in the run, from 1."""
    parent: int | None
    """The span inside which it is."""
    type: SpanKind
    name: str
    """Of the agent, the model or the tool."""
    agent: str
    branch: str | None
    at: float
    """Seconds since the epoch."""
    call: str | None = None
    """A tool's function call id."""
    args: str | None = None
    """JSON text: the arguments of a tool."""
    prompt: Prompt | None = None
    """The request to a model; None also for one too large to be kept."""
    kind: Literal["span_began"] = "span_began"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEnded:
    """It is over."""

    run: str
    span: int
    seconds: float
    """How long it took, by a clock that only goes forward."""
    first: float | None = None
    """Seconds to the first piece of a model's answer."""
    result: str | None = None
    """JSON text: a tool's result, or a model's responses as `[[seconds, response], …]`."""
    error: str | None = None
    """What it raised, in one line; CANCELLED if it was broken off."""
    effects: str | None = None
    """JSON text: what a tool set in its `EventActions`, in wire form; None if it set nothing."""
    kind: Literal["span_ended"] = "span_ended"
