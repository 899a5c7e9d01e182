"""Spans: the runs of agents and the calls of models and tools (decisions/0009)."""

from dataclasses import dataclass
from typing import Literal

SpanKind = Literal["agent", "model", "tool"]

CANCELLED = "cancelled"
"""The error of a span that was cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request to a model after the last callback, in pieces that are sent and stored once."""

    model: str | None
    system: str | None
    tools: str | None
    config: str | None
    """The generation settings, without system instruction, tools and HTTP options."""
    contents: list[str]
    """The conversation, oldest first. All fields up to here hold names of pieces."""
    pieces: dict[str, str]
    """The JSON texts of the pieces that weren't sent before, by name (a hash of the piece)."""
    stream: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanBegan:
    """An agent, a model call or a tool call began."""

    run: str
    span: int
    """The span's number, unique in the run, from 1."""
    parent: int | None
    """The enclosing span."""
    type: SpanKind
    name: str
    """The name of the agent, model or tool."""
    agent: str
    branch: str | None
    at: float
    """Seconds since the epoch."""
    call: str | None = None
    """A tool's function call id."""
    args: str | None = None
    """JSON text: a tool's arguments."""
    prompt: Prompt | None = None
    """The request to a model; None for other calls, or if it is too large to keep."""
    kind: Literal["span_began"] = "span_began"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEnded:
    """The end of a span."""

    run: str
    span: int
    seconds: float
    """The duration, by a monotonic clock."""
    first: float | None = None
    """Seconds until the first fragment of a model's answer."""
    result: str | None = None
    """JSON text: a tool's result, or a model's responses as `[[seconds, response], …]`."""
    error: str | None = None
    """The exception, in one line; CANCELLED if the span was cut off."""
    effects: str | None = None
    """JSON text: what a tool set in its `EventActions`, in wire form; None if it set nothing."""
    kind: Literal["span_ended"] = "span_ended"
