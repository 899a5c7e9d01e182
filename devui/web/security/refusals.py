"""What the server has refused since it began, by its reasons (R67): the guard, limits, answers.

Whoever is refused could ask again without end: so reasons are counted, of what was sent only the
path of the latest request is kept, and pages are told ever more seldom.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

NOT_SIGNED_IN = "not signed in"
WRONG_TOKEN = "a sign-in with a wrong token"  # noqa: S105  (a reason)
OLD_LINK = "a sign-in link that was already used or has expired"
_CLOSELY = 1000
"""From so many programs without a token on, the apps of few are looked for."""
_PATH = 200
"""Characters of a path that are kept."""


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """Without its query, headers and body, which may hold secrets."""

    method: str
    path: str
    at: float
    """Seconds since the epoch."""


class Refusals:
    """Counted where requests are refused, shown by the pages."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        """How often each reason was given."""
        self.programs = 0
        """How often a program that is no browser came without a token (R09)."""
        self.latest: dict[str, RefusedRequest] = {}
        """The latest request that was refused for a reason, where the guard refused it."""
        self.latest_program: RefusedRequest | None = None
        self.apps: set[str] = set()
        """The apps that such programs are known to belong to."""
        self.on_news: Callable[[], None] = lambda: None
        """Called when one is counted, for each reason at its 1st, 2nd, 4th, 8th … time."""

    def count(
        self,
        reason: str,
        *,
        method: str = "",
        path: str = "",
        program: bool = False,
        app: Callable[[], str | None] = lambda: None,
    ) -> None:
        """One more; `program`: no browser sent it, but perhaps an `app`, which takes a look."""
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
        """How often a browser came that is not signed in."""
        return self.reasons[NOT_SIGNED_IN] - self.programs

    def total(self) -> int:
        """How many there were."""
        return self.reasons.total()
