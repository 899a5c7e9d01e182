"""Refuses all connections during a replay, whoever makes them: callbacks, agents or libraries.

Python's audit hooks see each connection before it is made. A hook can't be removed, so it is
installed with the first replay of a process; after that, it costs a lookup.
"""

import sys
from collections.abc import Callable
from typing import Any

from devui.worker.output import current_run

_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.getaddrinfo"})

Refuse = Callable[[str], Any]
"""Raises, given the target of the attempt."""

_guards: dict[str, Refuse] = {}
_installed: list[bool] = []


def guard(run: str, refuse: Refuse) -> None:
    """Refuse all connections of this run."""
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_audit)
    _guards[run] = refuse


def unguard(run: str) -> None:
    """Stop guarding a run that has ended."""
    _guards.pop(run, None)


def is_guarded() -> bool:
    """Return whether the current run is guarded."""
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
