"""Contents that a model asks for by name, shown in one request only (adk-runtime 8.8, 8.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.models.asides import Aside, newest_first
from devui.runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.models.llm_request import LlmRequest


class AskedContentsTool(BaseTool):
    """A tool by which a model asks to see contents.

    Its response holds the names; what has them is put behind it in the next request, and never
    into the history.
    """

    def __init__(self, *, name: str, description: str, names: str) -> None:
        """Describe the tool; `names` is what its one parameter is called, a list of texts."""
        super().__init__(name=name, description=description)
        self._names = names

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema={
                "type": "object",
                "properties": {self._names: {"type": "array", "items": {"type": "string"}}},
            },
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Note what the next request is to show; names that are no list of texts are an error."""
        names = args.get(self._names, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return {
                "error": f"{self._names!r} must be a list of texts: give the names in a list.",
                "error_code": "INVALID_ARGUMENTS",
            }
        return {
            self._names: names,
            "status": (
                "The contents are shown in the next request, and only there. Call this again to"
                " see them later."
            ),
        }

    def _asked_for(self, llm_request: LlmRequest) -> list[str]:
        """The names in the tool's responses that the conversation ends with."""
        last = next(newest_first(llm_request.contents), None)
        found: list[str] = []
        for part in (last.parts if last else None) or []:
            response = part.function_response
            names = (response.response or {}).get(self._names) if response else None
            if response and response.name == self.name and isinstance(names, list):
                found += [name for name in names if isinstance(name, str)]
        return found


def labelled(what: str, part: types.Part) -> types.Content:
    """A content that shows the part, and says what it is."""
    return Aside(role="user", parts=[types.Part(text=f"{what} is:"), part])
