"""The HTTP client that google-genai brings along: httpx2, or httpx with its older versions.

Clients that agents make themselves are of either (adk-runtime 8.9; devui's own).
"""

import sys
from typing import Any, NamedTuple

try:
    import httpx2 as httpx
except ImportError:
    import httpx  # type: ignore[no-redef, unused-ignore]  # the same names in the older one

__all__ = ["Timeouts", "httpx", "kinds"]


class Timeouts(NamedTuple):
    """Seconds to wait, or None, in a form that clients of httpx and those of httpx2 take both."""

    connect: float | None
    read: float | None
    write: float | None
    pool: float | None


def kinds(*names: str) -> tuple[Any, ...]:
    """The classes of these names, those of httpx beside httpx2, too, if anybody uses it.

    Code of agents that makes its own clients has them from there, as google-adk does.
    """
    modules = {id(each): each for each in (httpx, sys.modules.get("httpx") or httpx)}
    return tuple(vars(each)[name] for each in modules.values() for name in names)
