"""`LoadMcpResourceTool`: lets a model read the resources of an MCP server (adk-runtime 8.9)."""

from __future__ import annotations

import base64
import json
import logging
from typing import TYPE_CHECKING, Any, Protocol

from google.genai import types

from devui.runtime.tools.load_artifacts_tool import RequestedContentsTool, labelled

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context, ReadonlyContext
    from devui.runtime.models.llm_request import LlmRequest

logger = logging.getLogger(__name__)

_INSTRUCTION = (
    "An MCP server has these resources: {names}\n\nBefore you answer a question about one of them,"
    " call `{tool}` with its name: its content is shown for one request only."
)


class Resources(Protocol):
    """The methods of an McpToolset that the tool needs."""

    async def list_resources(self, readonly_context: ReadonlyContext | None = None) -> list[str]:
        """Return the names of the resources."""

    async def read_resource(
        self, name: str, readonly_context: ReadonlyContext | None = None
    ) -> list[Any]:
        """Return the contents of a resource."""


class LoadMcpResourceTool(RequestedContentsTool):
    """Tells the model which resources there are, and shows it the ones it requests.

    If the server can't list or read them, the error is logged and the agent continues without them.
    """

    def __init__(self, mcp_toolset: Resources) -> None:
        """Offer the resources of the toolset's server."""
        super().__init__(
            name="load_mcp_resource",
            description="Look into resources of an MCP server.",
            names="resource_names",
        )
        self._toolset = mcp_toolset

    async def process_llm_request(self, *, tool_context: Context, llm_request: LlmRequest) -> None:
        """Declare the tool, list the resources, and show those that were just requested."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        try:
            names = await self._toolset.list_resources(tool_context)
        except Exception:
            logger.exception("The resources of an MCP server could not be listed.")
            return
        if names:
            instruction = _INSTRUCTION.format(names=json.dumps(names), tool=self.name)
            llm_request.append_instructions([instruction])
        for name in self._asked_for(llm_request):
            llm_request.contents.extend(await self._contents(name, tool_context))

    async def _contents(self, name: str, tool_context: Context) -> list[types.Content]:
        try:
            contents = await self._toolset.read_resource(name, tool_context)
        except Exception:
            logger.exception("The MCP resource %r could not be read.", name)
            return []
        return [labelled(f"Resource {name}", _part(each)) for each in contents]


def _part(content: Any) -> types.Part:
    """Return the part for an MCP content: text, or bytes as base64."""
    fields = content.model_dump(by_alias=True)
    if fields.get("text") is not None:
        return types.Part(text=fields["text"])
    kind = fields.get("mimeType") or "application/octet-stream"
    return types.Part.from_bytes(data=base64.b64decode(fields["blob"]), mime_type=kind)
