"""When a request for a chat completion is sent once more, as OpenAI's own client does it.

Source: adk-runtime 9.5.

Only what has not been answered yet is sent again: of an answer that breaks off, parts may have been
shown already.
"""

import random
from collections.abc import Mapping

from devui.runtime.http_client import httpx

NOT_ANSWERED = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
"""What goes wrong with connections in passing."""

_PASSING = frozenset({408, 409, 429})
_FIRST_SECONDS, _LONGEST_SECONDS = 0.5, 8.0
_LONGEST_TOLD_SECONDS = 60.0


def may_pass(status: int) -> bool:
    """Whether an HTTP status tells of something that may be over soon."""
    return status in _PASSING or status >= httpx.codes.INTERNAL_SERVER_ERROR


def pause(attempt: int, headers: Mapping[str, str] | None = None) -> float:
    """Seconds to wait after a failed attempt, counted from 0.

    Args:
        attempt: How many failed before it.
        headers: Those of the answer: a service may say how long to wait.
    """
    try:
        told = float((headers or {}).get("retry-after", ""))
    except ValueError:  # none, or a date
        told = -1.0
    if 0 <= told <= _LONGEST_TOLD_SECONDS:
        return told
    # Not all at once: who is refused together would come back together.
    longest: float = min(_FIRST_SECONDS * 2**attempt, _LONGEST_SECONDS)
    return longest * random.uniform(0.75, 1.0)  # noqa: S311  no secret
