"""devui: the dev UI and debugger for agents, with an ADK-compatible runtime of its own."""

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
    """Open the page on an agent of this script or notebook.

    The agent runs in this process, in a thread with an event loop of its own.

    Args:
        agent: An agent, a Workflow, an App, or a list of them.
        name: What the app is called; by default the name of the agent or App.
        port: The port to listen on; None for 8000 or the next free one, 0 for any.
        db: The folder where sessions are kept, by default `.devui` in the current one;
            ":memory:" for a temporary one.
        limits: What `--limit` takes, such as `{"seconds": 60, "events": 500}`.
        open_browser: Whether to open the page in a browser.
        block: Whether to return only after Ctrl+C. By default that is so in a plain script, and not
            in a notebook, an interactive Python or a running event loop.

    Returns:
        The server: `url`, `link`, `token` and `stop()`; also a context manager, and an async one.

    Raises:
        TypeError: what was given is no agent.
        ValueError: a name is missing, given twice or not usable.
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
