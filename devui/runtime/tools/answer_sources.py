"""The sources of what a tool found go to the answer that is made of it (adk-runtime 8.7, 8.9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from google.genai import types

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.sessions.state import State
    from devui.runtime.tools.base_tool import BaseTool

_KEPT = "temp:_adk_grounding_metadata"


def keep_sources(state: State, sources: types.GroundingMetadata) -> None:
    """Keep the sources of a tool's result for the rest of the invocation."""
    state[_KEPT] = sources


def kept_sources(tools: Iterable[BaseTool], context: Context) -> types.GroundingMetadata | None:
    """The latest sources that were kept, if one of these tools is meant to hand on its own."""
    for tool in tools:
        if tool.propagate_grounding_metadata:
            sources: types.GroundingMetadata | None = context.state.get(_KEPT)
            return sources
    return None
