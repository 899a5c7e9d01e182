"""Counts the requests that the server has refused since it started, by reason (R67).

A refused client could retry without end. So requests are only counted, only the method, path and
time of the latest one are kept, and pages are notified less and less often.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

NOT_SIGNED_IN = "not signed in"
WRONG_TOKEN = "a sign-in with a wrong token"  # noqa: S105  (a reason)
OLD_LINK = "a sign-in link that was already used or has expired"
_CLOSELY = 1000
"""After this many requests without a sign-in, the app behind one is looked up only rarely."""
_PATH = 200
"""How many characters of a path are kept."""


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A refused request, without its query, headers and body, which may contain secrets."""

    method: str
    path: str
    at: float
    """Seconds since the epoch."""


class Refusals:
    """The refused requests of one server; pages show them."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        """How often requests were refused for each reason."""
        self.programs = 0
        """How many requests without a sign-in came from programs other than browsers (R09)."""
        self.latest: dict[str, RefusedRequest] = {}
        """The latest request that the guard refused, by reason."""
        self.latest_program: RefusedRequest | None = None
        self.apps: set[str] = set()
        """The apps that such programs were found to belong to."""
        self.on_news: Callable[[], None] = lambda: None
        """Called at the 1st, 2nd, 4th, 8th … refusal for each reason."""

    def count(
        self,
        reason: str,
        *,
        method: str = "",
        path: str = "",
        program: bool = False,
        app: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Count a refused request.

        `program` is true if no browser sent it. `app` looks up the app that did, which is slow.
        """
        self.reasons[reason] += 1
        stranger = program and reason == NOT_SIGNED_IN
        self.programs += stranger
        if path:
            latest = RefusedRequest(method[:_PATH], path[:_PATH], time.time())
            self.latest[reason] = latest
            self.latest_program = latest if stranger else self.latest_program
        times = self.reasons[reason]
        seldom = times & (times - 1) == 0
        if stranger and (seldom or times < _CLOSELY) and (name := app()) is not None:
            self.apps.add(name)
        if seldom:
            self.on_news()

    @property
    def browsers(self) -> int:
        """How many requests came from browsers that aren't signed in."""
        return self.reasons[NOT_SIGNED_IN] - self.programs

    def total(self) -> int:
        """Return how many requests were refused."""
        return self.reasons.total()
