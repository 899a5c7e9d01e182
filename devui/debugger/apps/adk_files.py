"""The files beside agents that ADK's server reads, and how devui treats them."""

import json
import logging
from pathlib import Path
from typing import Any, Final

from devui.debugger.apps.apps import LeftOut

logger = logging.getLogger("devui.apps")

INITIAL_STATE: Final = "initial_state.json"
_LIMIT: Final = 1_000_000
"""The maximum size of an initial state, in bytes."""
_SERVICES: Final = ("services.py", "services.yaml", "services.yml")
_KEPT_HERE: Final = (
    "Memory services registered here are used with --memory_service_uri and their scheme."
    " Session and artifact services aren't: devui stores both in its journal, to step, fork, and"
    " replay from it."
)
_PLUGINS: Final = (
    "Only the google-adk engine sends events to the BigQuery table that this file names, with"
    " google-adk[bigquery-analytics] installed. Pass other plugins to an App in agent.py, or name"
    " them with --extra_plugins."
)


class WrongState(ValueError):
    """An `initial_state.json` is unusable; the message says why."""


def initial_state(folder: Path) -> dict[str, Any]:
    """Return the initial state of new sessions of the app in this folder; {} without a file.

    The file is read each time, so that an edit takes effect with the next session. Raises
    WrongState.
    """
    file = folder / INITIAL_STATE
    if not file.is_file():
        return {}
    try:
        with file.open("rb") as stream:
            text = stream.read(_LIMIT + 1)
        state = json.loads(text, parse_constant=_refuse) if len(text) <= _LIMIT else None
    except (OSError, ValueError, RecursionError) as error:
        raise WrongState(f"{INITIAL_STATE} can't be read: {error}") from error
    if len(text) > _LIMIT:
        raise WrongState(f"{INITIAL_STATE} is larger than {_LIMIT:,} bytes")
    if not isinstance(state, dict):
        raise WrongState(f'{INITIAL_STATE} is not a JSON object, such as {{"city": "London"}}')
    return state


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a valid JSON number")


def starting_state(folder: Path, state: dict[str, Any] | None) -> dict[str, Any]:
    """Return the state of a new session: the file's, overridden key by key by the caller's.

    An unusable file is ignored, with a line in the log and on the app's page, so that people can
    go on working.
    """
    try:
        return {**initial_state(folder), **(state or {})}
    except WrongState as error:
        logger.warning("%s: %s; the session starts without it", folder, error)
        return state or {}


def unread_files(folder: Path) -> list[LeftOut]:
    """Return the files in an app's folder that do less here than in google-adk, with reasons."""
    files = unread_services(folder)
    if (folder / "plugins.yaml").is_file():
        files.append(LeftOut("plugins.yaml", _PLUGINS))
    if (folder / "agent.py").is_file() and (folder / "root_agent.yaml").is_file():
        files.append(LeftOut("root_agent.yaml", "agent.py takes precedence."))
    try:
        initial_state(folder)
    except WrongState as error:
        files.append(LeftOut(INITIAL_STATE, f"New sessions start without it: {error}."))
    return files


def unread_services(folder: Path) -> list[LeftOut]:
    """Return the files in an agents or app folder that register services with ADK's server."""
    return [LeftOut(name, _KEPT_HERE) for name in _SERVICES if _registers(folder / name)]


def _registers(file: Path) -> bool:
    """Whether the file registers services; a `services.py` may be a module of the agents' own."""
    if not file.is_file():
        return False
    try:
        return file.suffix != ".py" or b"service_registry" in file.read_bytes()[:_LIMIT]
    except OSError:
        return False
