"""The client itself: every endpoint, and what takes more than one of them."""

import time
from collections.abc import Mapping
from math import ceil, inf
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from devui.address import read_address
from devui.client.adk_endpoints import AdkEndpoints
from devui.client.endpoints import Endpoints
from devui.failures import NotFoundError, UnavailableError
from devui.keys import kept_key

if TYPE_CHECKING:
    from devui.web.panels.runs.schemas import PositionJson, SessionJson

USER: Final = "user"
"""Whose the sessions are that are made on the page."""
UNDER_WAY: Final = frozenset({"running", "stopping"})
"""What a run is that is neither held nor over."""

_LONGEST_ANSWER: Final = 30
"""Seconds that the server waits before it answers where a run stands."""


class Client(Endpoints):
    """Speaks to one server: a method for each endpoint of the debugger's API;
    `adk` has those of ADK's REST API.

    Answers are JSON as the API documents it (docs/guide/api.md). Every method raises `DevuiError`:
    its `status` is that of the answer, its `message` the server's sentence about what is wrong and
    what to do; subclasses say what kind of failure it is. Leaving the client as a context manager,
    or `close`, ends the streams that are still open; between requests it holds no connection.
    """

    @classmethod
    def of_folder(cls, data_dir: str | Path = ".devui", *, actor: str = "api") -> Self:
        """The client of the server that runs on a data folder of this user.

        Raises UnavailableError.
        """
        folder = Path(data_dir)
        address = read_address(folder)
        if address is None or address.is_gone or not address.url:
            raise UnavailableError(
                f"no server is running on the data folder {str(folder)!r}. Start one there with"
                " `devui AGENTS_DIR`, or give the URL and token of another: Client(url, token)"
            )
        return cls(address.url, kept_key(folder, address.pid), actor)

    @property
    def adk(self) -> AdkEndpoints:
        """ADK's REST API."""
        endpoints = AdkEndpoints(self.url, self.token, self.actor, self.job)
        object.__setattr__(endpoints, "_open", self._open)  # `close` ends what they stream, too
        return endpoints

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def session(self, key: int) -> "SessionJson":
        """The session of this number. Raises NotFoundError."""
        for each in self.sessions(key=key)["sessions"]:
            return each
        raise NotFoundError(f"there is no session {key}; `sessions()` lists them")

    def new_session(
        self, app: str, *, name: str | None = None, state: Mapping[str, Any] | None = None
    ) -> "SessionJson":
        """Make a session of the user that the page's sessions are of; `name` is its id.

        Raises NotFoundError if there is no such app.
        """
        initial = None if state is None else dict(state)
        session = self.adk.create_session(app, USER, session_id=name, state=initial)
        return self.sessions(app=app, user=USER, id=session["id"])["sessions"][0]

    def wait(self, position: "PositionJson", *, seconds: float = inf) -> "PositionJson":
        """Wait until the run of a position is held or over, at most so long; where it then is."""
        until = time.monotonic() + seconds
        while position["status"] in UNDER_WAY and (remaining := until - time.monotonic()) > 0:
            wait = ceil(min(remaining, _LONGEST_ANSWER))
            position = self.run(position["run"], after=position["position"], seconds=wait)
        return position
