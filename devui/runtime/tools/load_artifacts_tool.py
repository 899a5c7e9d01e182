"""`load_artifacts`: lets a model look into the session's files (adk-runtime 8.8)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.artifacts.base_artifact_service import USER_PREFIX
from devui.runtime.calling import call
from devui.runtime.models.llm_request import LlmRequest, RequestOnlyContent, newest_first
from devui.runtime.tools.artifact_parts import as_safe_part_for_llm
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.tool_context import ToolContext

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


# Contents that a model requests by name, shown in one request only (adk-runtime 8.8, 8.9).


class RequestedContentsTool(BaseTool):
    """A tool with which a model requests contents by name.

    Its response holds the names. Their contents are added after it in the next request, and never
    to the history.
    """

    def __init__(self, *, name: str, description: str, names: str) -> None:
        """Describe the tool; `names` is the name of its only parameter, a list of strings."""
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
        """Return the names to show in the next request, or an error if they aren't strings."""
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
        """Return the names in the tool's responses at the end of the conversation."""
        last = next(newest_first(llm_request.contents), None)
        all_names: list[str] = []
        for part in (last.parts if last else None) or []:
            response = part.function_response
            names = (response.response or {}).get(self._names) if response else None
            if response and response.name == self.name and isinstance(names, list):
                all_names += [name for name in names if isinstance(name, str)]
        return all_names


def labelled(what: str, part: types.Part) -> types.Content:
    """Return a content that shows the part after a label."""
    return RequestOnlyContent(role="user", parts=[types.Part(text=f"{what} is:"), part])


__all__ = ["LoadArtifactsTool", "as_safe_part_for_llm", "load_artifacts_tool"]

logger = logging.getLogger(__name__)

_NAME = "load_artifacts"
_INSTRUCTION = (
    "These files (artifacts) are there: {names}. Before you answer a question about one of them,"
    f" call `{_NAME}` with its name, also if you have seen it before: its content is shown for one"
    " request only."
)

ProcessArtifactCallback = Callable[[types.Part, str], Any]


class LoadArtifactsTool(RequestedContentsTool):
    """Lists the artifacts for the model, and shows it the ones it requests.

    The content is added to the next request and never to the history.
    """

    def __init__(
        self,
        *,
        process_artifact: ProcessArtifactCallback | None = None,
        enable_spreadsheet_parsing: bool = False,
    ) -> None:
        """Create the tool.

        Args:
            process_artifact: Called with a file and its name, sync or async; returns the part for
                the model, or None for no part. By default, types that models don't accept
                become text.
            enable_spreadsheet_parsing: Not supported, since it needs pandas and its readers.

        Raises:
            ValueError: `enable_spreadsheet_parsing` is set.
        """
        if enable_spreadsheet_parsing:
            raise ValueError(
                "load_artifacts does not read spreadsheets: enable_spreadsheet_parsing is not"
                " supported. Pass a function that reads them as process_artifact."
            )
        super().__init__(
            name=_NAME,
            description=(
                "Look into files of this session, for example such as the user has uploaded."
            ),
            names="artifact_names",
        )
        self._process_artifact = process_artifact or as_safe_part_for_llm

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Declare the tool, list the files, and show those that the model has just requested."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        available = await tool_context.list_artifacts()
        if not available:
            return
        llm_request.append_instructions([_INSTRUCTION.format(names=json.dumps(available))])
        for name in self._asked_for(llm_request):
            part = await self._load(name, available, tool_context)
            if part is not None:
                llm_request.contents.append(labelled(f"Artifact {name}", part))

    async def _load(
        self, request: str, available: Collection[str], tool_context: ToolContext
    ) -> types.Part | None:
        # A model may write any name; only those listed for this session are loaded.
        name = next(
            (each for each in (request, f"{USER_PREFIX}{request}") if each in available), None
        )
        artifact = await tool_context.load_artifact(name) if name else None
        if artifact is None or name is None:
            logger.warning("The model asked for artifact %r, which doesn't exist.", request)
            return None
        try:
            part: types.Part | None = await call(self._process_artifact, artifact, name)
        except Exception:
            logger.exception("Artifact %r could not be prepared for the model.", name)
            return None
        return part


load_artifacts_tool = LoadArtifactsTool()
