"""The HTTP client that google-genai depends on: httpx2, or httpx in its older versions.

Agents may create clients of either kind (adk-runtime 8.9; devui's own).
"""

import sys
from typing import Any, NamedTuple

try:
    import httpx2 as httpx
except ImportError:
    import httpx  # type: ignore[no-redef, unused-ignore]  # has the same names

__all__ = ["Timeouts", "httpx", "kinds"]


class Timeouts(NamedTuple):
    """Seconds to wait, or None, in a form that clients of both httpx and httpx2 accept."""

    connect: float | None
    read: float | None
    write: float | None
    pool: float | None


def kinds(*names: str) -> tuple[Any, ...]:
    """Return the classes with these names, including those of httpx beside httpx2 if it is in use.

    Agents' code that creates its own clients imports them from httpx, as google-adk does.
    """
    modules = {id(each): each for each in (httpx, sys.modules.get("httpx") or httpx)}
    return tuple(vars(each)[name] for each in modules.values() for name in names)
