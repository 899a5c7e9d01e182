"""Files in a run's message, saved as artifacts if the run is to.

google-adk's SaveFilesAsArtifactsPlugin reports the versions in the first event of an agent. Here,
the event of the message has them, so the files are there as of that event.
"""

from collections.abc import Container
from itertools import chain, count
from pathlib import PurePath
from typing import Any

from google.genai import types

from devui.runtime.artifacts.message_files import save_file
from devui.worker.engines.kit import Event


async def save_files(
    service: Any, message: types.Content, **owner: Any
) -> tuple[types.Content, dict[str, int]]:
    """Return the message with notes in place of its files, and the saved versions by name."""
    parts: list[types.Part] = []
    versions: dict[str, int] = {}
    for index, part in enumerate(message.parts or []):
        if part.inline_data is None:
            parts.append(part)
            continue
        name = _free_name(part.inline_data.display_name or f"artifact_{index}", versions)
        saved_file = await save_file(service, part, name, **owner)
        parts += saved_file.parts
        if saved_file.version is not None:
            versions[name] = saved_file.version
    return types.Content(role=message.role, parts=parts), versions


def _free_name(name: str, names: Container[str]) -> str:
    """Return the name, with a number if an earlier file of the message has it: two pasted
    pictures are both called `image.png`."""
    suffix = PurePath(name).suffix
    stem = name.removesuffix(suffix)
    numbered = (f"{stem}-{number}{suffix}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in names)


def report(event: Event, versions: dict[str, int]) -> bool:
    """Add the saved versions to the user's message; return whether `event` is that message."""
    if event.author != "user":
        return False
    event.actions.artifact_delta.update(versions)
    return True
