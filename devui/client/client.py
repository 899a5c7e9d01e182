"""The client: every endpoint, and operations that combine several."""

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
"""The user of sessions that are made on the page."""
UNDER_WAY: Final = frozenset({"running", "stopping"})
"""The statuses of a run that is neither held nor over."""

_LONGEST_ANSWER: Final = 30
"""The longest time that the server waits for a run before it answers, in seconds."""


class Client(Endpoints):
    """A client of one server, with a method for each endpoint of the debugger's API; `adk` has
    those of ADK's REST API.

    Methods return JSON as documented in docs/guide/api.md, and raise `DevuiError`, or a subclass
    for each kind of failure: its `status` is the HTTP status, its `message` the server's sentence
    about what is wrong and what to do. No connection is kept open between requests. `close`, or
    the end of the context if used as a context manager, ends the streams that are still open.
    """

    @classmethod
    def of_folder(cls, data_dir: str | Path = ".devui", *, actor: str = "api") -> Self:
        """Return a client of the server that runs on this data folder of the current user.

        Raises UnavailableError if there is none.
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
        """The endpoints of ADK's REST API."""
        endpoints = AdkEndpoints(self.url, self.token, self.actor, self.job)
        object.__setattr__(endpoints, "_open", self._open)  # so that `close` ends their streams
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
        """Return the session with this key. Raises NotFoundError."""
        for each in self.sessions(key=key)["sessions"]:
            return each
        raise NotFoundError(f"there is no session {key}; `sessions()` lists them")

    def new_session(
        self, app: str, *, name: str | None = None, state: Mapping[str, Any] | None = None
    ) -> "SessionJson":
        """Create a session for the user that the page's sessions belong to; `name` is its id.

        Raises NotFoundError if the app doesn't exist.
        """
        initial = None if state is None else dict(state)
        session = self.adk.create_session(app, USER, session_id=name, state=initial)
        return self.sessions(app=app, user=USER, id=session["id"])["sessions"][0]

    def wait(self, position: "PositionJson", *, seconds: float = inf) -> "PositionJson":
        """Wait until the run at this position is held or over, for at most this long.

        Returns its position then.
        """
        until = time.monotonic() + seconds
        while position["status"] in UNDER_WAY and (remaining := until - time.monotonic()) > 0:
            wait = ceil(min(remaining, _LONGEST_ANSWER))
            position = self.run(position["run"], after=position["position"], seconds=wait)
        return position
