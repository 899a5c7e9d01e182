"""Files that tools saved in the recorded run."""

import json

from google.genai import types

from devui.runtime.agents.context import Context
from devui.wire.recordings import Recording


class RecordedFiles:
    """Saves again what a tool saved whose result is recorded."""

    def __init__(self, recording: Recording) -> None:
        self._parts = {(file.name, file.version): file.part for file in recording.files}

    async def save(self, context: Context, delta: dict[str, int]) -> None:
        """Save the versions of an `artifactDelta`; one that is not there any more is noted only."""
        for name, version in delta.items():
            part = self._parts.get((name, version))
            if part is None:
                context.actions.artifact_delta[name] = version
            else:
                saved = types.Part.model_validate_json(json.dumps(part))
                await context.save_artifact(name, saved)
