"""The `.env` file of an agent, for programs that run it (devui's own, at ADK's path)."""

import os
from functools import cache
from pathlib import Path

from dotenv import load_dotenv


def load_dotenv_for_agent(
    agent_name: str, agent_parent_folder: str, filename: str = ".env"
) -> None:
    """Take over the variables of the nearest `.env` file of the agent's folder or one above it.

    What the environment had before the first such file stays; a later file wins over an earlier
    one. ADK_DISABLE_LOAD_DOTENV=1 lets all of them be.

    Args:
        agent_name: The folder of the agent.
        agent_parent_folder: The folder in which that is.
        filename: What the file is called.
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
    """The variables that were there before the first file."""
    return frozenset(os.environ)
