"""`SaveFilesAsArtifactsPlugin`: saves files in messages as artifacts (adk-runtime 10.4)."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.artifacts.message_files import save_file
from devui.runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.artifacts.base_artifact_service import BaseArtifactService

logger = logging.getLogger(__name__)

_RUNS_KEPT = 100


class SaveFilesAsArtifactsPlugin(BasePlugin):
    """Saves files in messages as artifacts under their display names, and replaces them with notes.

    The first agent of the run reports the versions in `artifact_delta`. Give the agent
    `load_artifacts`, so that its model can read the files. Files over 20 MB are rejected with a
    note.
    """

    def __init__(
        self, name: str = "save_files_as_artifacts_plugin", *, attach_file_reference: bool = True
    ) -> None:
        """Set what replaces a file.

        Args:
            name: The plugin's name.
            attach_file_reference: Also add the artifact's URI to the message, if it is one that
                models can read (gs, https, http).
        """
        super().__init__(name)
        self._attach_file_reference = attach_file_reference
        self._saved_by_invocation: OrderedDict[str, dict[str, int]] = OrderedDict()
        """The saved versions that no agent has reported yet, by invocation."""

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Return the message with notes in place of its files, or None to leave it as it is."""
        parts = user_message.parts or []
        if not any(part.inline_data for part in parts):
            return None
        service = invocation_context.artifact_service
        if service is None:
            logger.warning(
                "Plugin %r can't save files: the Runner has no artifact_service.", self.name
            )
            return None
        changed: list[types.Part] = []
        for index, part in enumerate(parts):
            if part.inline_data is None:
                changed.append(part)
            else:
                changed += await _saved_parts(self, invocation_context, service, part, index)
        return types.Content(role=user_message.role, parts=changed)

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Report the saved versions in the first agent's `artifact_delta`."""
        versions = self._saved_by_invocation.pop(callback_context.invocation_id, None)
        if versions:
            callback_context.actions.artifact_delta.update(versions)


def _note(plugin: SaveFilesAsArtifactsPlugin, invocation_id: str, name: str, version: int) -> None:
    plugin._saved_by_invocation.setdefault(invocation_id, {})[name] = version
    if len(plugin._saved_by_invocation) > _RUNS_KEPT:  # runs that never reached an agent
        plugin._saved_by_invocation.popitem(last=False)


async def _saved_parts(
    plugin: SaveFilesAsArtifactsPlugin,
    ctx: InvocationContext,
    service: BaseArtifactService,
    part: types.Part,
    index: int,
) -> list[types.Part]:
    """Save a file, and return the parts that replace it; if saving fails, the file itself."""
    blob = part.inline_data or types.Blob()
    name = blob.display_name or f"artifact_{ctx.invocation_id}_{index}"
    saved_file = await save_file(
        service,
        part,
        name,
        attach_file_reference=plugin._attach_file_reference,
        app_name=ctx.session.app_name,
        user_id=ctx.session.user_id,
        session_id=ctx.session.id,
    )
    if saved_file.version is not None:
        _note(plugin, ctx.invocation_id, name, saved_file.version)
    return saved_file.parts
