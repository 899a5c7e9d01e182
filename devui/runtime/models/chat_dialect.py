"""How services that speak chat completions differ in what they take (adk-runtime 9.4)."""

from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a service takes beyond, or instead of, what all of them do."""

    thoughts: Literal["blocks", "texts"] | None = None
    """How thoughts are sent back: signed blocks, as Claude wants them, `reasoning_content`, or
    not at all."""
    litellms: bool = False
    """Whether litellm reads the request first: it knows fields and tools of its own."""
    geminis: bool = False
    """Whether litellm speaks Gemini's own protocol to it."""
    files: bool = False
    """Whether files are fetched by their address."""
    joins_texts: bool = False
    """Whether several texts must be one."""
    tool_role: str = "tool"
    """The role of results of tools."""


OPENAI = Dialect()
"""OpenAI's own, and that of those who copy it."""
