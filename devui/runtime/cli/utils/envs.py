"""The `.env` file of an agent, for programs that run the agent (devui's own, at ADK's path)."""

import os
from functools import cache
from pathlib import Path

from dotenv import load_dotenv


def load_dotenv_for_agent(
    agent_name: str, agent_parent_folder: str, filename: str = ".env"
) -> None:
    """Set environment variables from the nearest `.env` file, from the agent's folder upwards.

    Variables that were set before the first such file keep their values; a later file overrides an
    earlier one. ADK_DISABLE_LOAD_DOTENV=1 disables this.

    Args:
        agent_name: The folder of the agent.
        agent_parent_folder: The folder that contains it.
        filename: The name of the file.
    """
    if os.environ.get("ADK_DISABLE_LOAD_DOTENV", "").strip().lower() in {"1", "true", "yes", "on"}:
        return
    environment = {name: os.environ[name] for name in _initial_names() if name in os.environ}
    folder = Path(agent_parent_folder, agent_name).resolve()
    for place in (folder, *folder.parents):
        if (place / filename).is_file():
            load_dotenv(place / filename, override=True)
            os.environ.update(environment)
            return


@cache
def _initial_names() -> frozenset[str]:
    """Return the names of the variables that were set before the first file."""
    return frozenset(os.environ)
