"""`devui.serve`: the debugger for agents that are objects of this script or notebook."""

import asyncio
import atexit
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from devui.hosting.host import Host
from devui.worker.engines.choice import NotOfARuntime, kit_of

_SECONDS_TO_END: Final = 15
_IN_MEMORY: Final = ":memory:"
_LIMITS: Final = (
    "In this mode agents run in your process: code you change takes effect when you restart it, and"
    " a crash or a blocked event loop affects all of its agents."
)


class ServeError(RuntimeError):
    """The server didn't start, or ended unexpectedly; the message says why."""


class Serving:
    """A running server.

    It ends with `stop`, on leaving its `with` or `async with` block, or with the process.
    """

    def __init__(self, server: subprocess.Popen[str], control: socket.socket, host: Host) -> None:
        self._server = server
        self._control = control
        self._host = host
        self._stopping = threading.Lock()
        self.url = ""
        """The server's URL, such as `http://127.0.0.1:8000`, without a trailing slash."""
        self.link = ""
        """A link that signs a browser in; works once, within ten minutes."""
        self.token = ""
        """The token that scripts send, as `Authorization: Bearer TOKEN`."""

    def __repr__(self) -> str:
        state = "running" if self._server.poll() is None else "stopped"
        return f"<devui {self.url} {state}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)

    def begin(self) -> None:
        """Wait until the server is ready, then start the agents' host. Raises ServeError."""
        stdout = self._server.stdout
        line = stdout.readline() if stdout is not None else ""
        report = json.loads(line) if line else {"error": "its process ended; see standard error"}
        if "error" in report:
            self._control.close()
            self._server.wait()
            raise ServeError(f"devui did not start: {report['error']}")
        self.url, self.link, self.token = report["url"], report["link"], report["token"]
        self._host.start()
        atexit.register(self.stop)

    def wait(self) -> None:
        """Wait for the server to end. Raises ServeError if it fails by itself."""
        status = self._server.wait()
        if not self._stopping.locked():
            self.stop()
            if status:
                raise ServeError(f"the server ended with status {status}; see standard error")

    def stop(self) -> None:
        """Stop the server, interrupt active runs, and wait for both; later calls do nothing."""
        if not self._stopping.acquire(blocking=False):  # never released
            return
        atexit.unregister(self.stop)
        with contextlib.suppress(OSError):  # the server has already ended
            self._control.shutdown(socket.SHUT_RDWR)
        try:
            self._server.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._host.stop()
        self._control.close()
        if self._server.stdout is not None:
            self._server.stdout.close()


def serve(
    agent: Any,
    *,
    name: str | None,
    port: int | None,
    db: str | os.PathLike[str] | None,
    limits: Mapping[str, int],
    open_browser: bool,
    block: bool | None,
) -> Serving:
    """See `devui.serve`."""
    apps = _named(agent, name)
    options = [f"--limit={limit}={most}" for limit, most in limits.items()]
    if port is not None:
        options.append(f"--port={port}")
    if db is not None:
        options.append(f"--data-dir={_scratch() if db == _IN_MEMORY else os.fspath(db)}")
    serving = _started(apps, options)
    sys.stdout.write(f"devui  {serving.link}\n{_LIMITS}\n")
    sys.stdout.flush()
    if open_browser:
        # Opening a browser may block until it is closed, so it is done in a thread.
        threading.Thread(target=_open, args=(serving.link,), daemon=True).start()
    if _blocks() if block is None else block:
        sys.stdout.write("Press Ctrl+C to stop.\n")
        sys.stdout.flush()
        try:
            serving.wait()
        except KeyboardInterrupt:
            serving.stop()
    return serving


def _named(agent: Any, name: str | None) -> dict[str, Any]:
    """Return the agents to serve, by app name. Raises TypeError, ValueError."""
    agents = list(agent) if isinstance(agent, list | tuple) else [agent]
    if not agents:
        raise ValueError("devui.serve() needs at least one agent")
    if name is not None and len(agents) > 1:
        raise ValueError("name= is for one agent; several are served by their own names")
    apps: dict[str, Any] = {}
    for each in agents:
        try:
            kit_of(each)
        except NotOfARuntime as error:
            raise TypeError(
                f"devui.serve() takes an agent (LlmAgent, ...), a Workflow, an App, or a list of"
                f" these: {error}"
            ) from None
        app = name or str(each.name)
        if not re.fullmatch(r"[A-Za-z0-9_][\w-]{0,63}", app):
            raise ValueError(
                f"{app!r} can't be the name of an app: use letters, digits, - and _, at most 64, or"
                " give another one with name="
            )
        if app in apps:
            raise ValueError(f"two agents are called {app!r}: rename one, or wrap it in an App")
        apps[app] = each
    return apps


def _started(apps: dict[str, Any], options: list[str]) -> Serving:
    folder = _folder()
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-P", "-m", "devui.cli.hosted", *apps]
    command += ["--control", str(theirs.fileno()), "--pid", str(os.getpid())]
    command += ["--agents", str(folder), *options]
    with theirs:
        server = subprocess.Popen(  # noqa: S603 - ourselves
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C goes only to this process, which stops the server
        )
    serving = Serving(server, ours, Host(apps.__getitem__, ours, folder))
    serving.begin()
    return serving


def _scratch() -> str:
    folder = tempfile.TemporaryDirectory(prefix="devui-")
    atexit.register(folder.cleanup)
    return folder.name


def _folder() -> Path:
    """Return the folder with the agents' code: that of the script, or the current one."""
    main = sys.modules.get("__main__")
    file = vars(main).get("__file__") if main is not None else None
    return Path(file).resolve().parent if file else Path.cwd()


def _blocks() -> bool:
    """Return whether this is a plain script: not interactive, and without a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return not ("ps1" in vars(sys) or sys.flags.interactive or "ipykernel" in sys.modules)
    return False


def _open(link: str) -> None:
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(link)
