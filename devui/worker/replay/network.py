"""No connection is made while a replay goes on, whoever tries: callbacks, agents, libraries.

Python's audit hooks see each connection before it is made. A hook cannot be taken away again, so it
is installed with the first replay of a process; after that it costs a look-up.
"""

import sys
from collections.abc import Callable
from typing import Any

from devui.worker.output import current_run

_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.getaddrinfo"})

Refuse = Callable[[str], Any]
"""Given what was tried; raises."""

_guards: dict[str, Refuse] = {}
_installed: list[bool] = []


def guard(run: str, refuse: Refuse) -> None:
    """Let this run make no connection."""
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_audit)
    _guards[run] = refuse


def unguard(run: str) -> None:
    """The run is over."""
    _guards.pop(run, None)


def is_guarded() -> bool:
    """Whether what executes here is a run that is guarded."""
    return (current_run.get() or "") in _guards


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if event not in _EVENTS or not _guards:
        return
    refuse = _guards.get(current_run.get() or "")
    target = args[0] if event == "socket.getaddrinfo" else args[1]
    if refuse is not None and not isinstance(target, str | bytes):
        refuse(":".join(str(each) for each in target[:2]))
    elif refuse is not None and event == "socket.getaddrinfo":
        refuse(str(target))
