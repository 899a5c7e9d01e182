"""devui: a dev UI and debugger for agents, with its own ADK-compatible runtime."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def serve(
    agent: Any,
    *,
    name: str | None = None,
    port: int | None = None,
    db: Any = None,
    limits: Any = None,
    open_browser: bool = True,
    block: bool | None = None,
) -> Any:
    """Open the UI on an agent of this script or notebook.

    The agent runs in this process, in a thread with its own event loop.

    Args:
        agent: An agent, a Workflow, an App, or a list of them.
        name: The name of the app; by default, that of the agent or App.
        port: The port to listen on; None for 8000 or the next free one, 0 for any.
        db: The folder to store sessions in, by default `.devui` in the current folder;
            ":memory:" for a temporary one.
        limits: The limits that `--limit` sets, such as `{"seconds": 60, "events": 500}`.
        open_browser: Whether to open the page in a browser.
        block: Whether to block until Ctrl+C. By default, the call blocks in a plain script, but not
            in a notebook, an interactive Python or a running event loop.

    Returns:
        The server, with `url`, `link`, `token` and `stop()`; also a sync and async context manager.

    Raises:
        TypeError: `agent` is not an agent.
        ValueError: a name is missing, duplicate or invalid.
        RuntimeError: the server did not start: the port or folder is in use, or a limit is wrong.
    """
    module = import_module("devui.hosting.serve")
    return module.serve(
        agent,
        name=name,
        port=port,
        db=db,
        limits=limits or {},
        open_browser=open_browser,
        block=block,
    )
