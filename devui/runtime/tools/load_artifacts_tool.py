"""`load_artifacts`: lets a model look into the session's files (adk-runtime 8.8)."""

import json
import logging
from collections.abc import Callable, Collection
from typing import Any

from google.genai import types

from devui.runtime.artifacts.arguments import USER_PREFIX
from devui.runtime.calling import call
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.tools.artifact_parts import as_safe_part_for_llm
from devui.runtime.tools.asked_contents import AskedContentsTool, labelled
from devui.runtime.tools.tool_context import ToolContext

__all__ = ["LoadArtifactsTool", "as_safe_part_for_llm", "load_artifacts_tool"]

logger = logging.getLogger(__name__)

_NAME = "load_artifacts"
_INSTRUCTION = (
    "These files (artifacts) are there: {names}. Before you answer a question about one of them,"
    f" call `{_NAME}` with its name, also if you have seen it before: its content is shown for one"
    " request only."
)

ProcessArtifactCallback = Callable[[types.Part, str], Any]


class LoadArtifactsTool(AskedContentsTool):
    """Tells the model which files there are, and shows it those that it asks for.

    The content goes into the request that follows the call and never into the history.
    """

    def __init__(
        self,
        *,
        process_artifact: ProcessArtifactCallback | None = None,
        enable_spreadsheet_parsing: bool = False,
    ) -> None:
        """Make the tool.

        Args:
            process_artifact: Called with a file and its name, sync or async; returns the part
                that the model gets, or None for none. By default types that models do not take
                become text.
            enable_spreadsheet_parsing: Not supported: that takes pandas and what it reads with.

        Raises:
            ValueError: `enable_spreadsheet_parsing` is set.
        """
        if enable_spreadsheet_parsing:
            raise ValueError(
                "load_artifacts does not read spreadsheets: enable_spreadsheet_parsing is not"
                " supported. Give process_artifact a function that reads them by your library."
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
        """Declare the tool, list the files, and show those that the model has just asked for."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        available = await tool_context.list_artifacts()
        if not available:
            return
        llm_request.append_instructions([_INSTRUCTION.format(names=json.dumps(available))])
        for wanted in self._asked_for(llm_request):
            part = await self._load(wanted, available, tool_context)
            if part is not None:
                llm_request.contents.append(labelled(f"Artifact {wanted}", part))

    async def _load(
        self, wanted: str, available: Collection[str], tool_context: ToolContext
    ) -> types.Part | None:
        # A model may write any name; only those that were listed for this session are loaded.
        name = next(
            (each for each in (wanted, f"{USER_PREFIX}{wanted}") if each in available), None
        )
        artifact = await tool_context.load_artifact(name) if name else None
        if artifact is None or name is None:
            logger.warning("The model asked for the artifact %r, which is not there.", wanted)
            return None
        try:
            part: types.Part | None = await call(self._process_artifact, artifact, name)
        except Exception:
            logger.exception("Artifact %r could not be prepared for the model.", name)
            return None
        return part


load_artifacts_tool = LoadArtifactsTool()
