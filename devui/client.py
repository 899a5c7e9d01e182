"""A client of the server's JSON endpoints, on the standard library alone (docs/guide/api.md)."""

import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import IOBase
from math import ceil, inf
from typing import IO, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from devui.failures import Failed, Misused, MovedOn, NoServer, NotSignedIn, NotThere

USER: Final = "user"
"""Whose the sessions are that are made on the page."""
UNDER_WAY: Final = frozenset({"running", "stopping"})
"""What a run is that is neither held nor over."""

_LONGEST_ANSWER: Final = 30
"""Seconds that the server waits before it answers where a run stands."""
_PATIENCE: Final = 60.0
"""Seconds without a byte; waiting answers come within 30, streams say something every 15."""
_KINDS: Final[dict[int, type[Failed]]] = {
    400: Misused,
    401: NotSignedIn,
    403: NotSignedIn,
    404: NotThere,
    409: MovedOn,
    413: Misused,
    422: Misused,
}
_ERRORS: Final = 400
_PIECE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a stream."""

    event: str
    data: str


@dataclass(frozen=True, slots=True)
class Client:
    """Speaks to one server. Every method raises what `failures` has for what went wrong."""

    url: str
    """`http://127.0.0.1:8000`; a path is kept before those that are asked for."""
    token: str
    """"" where no sign-in is needed."""
    actor: str
    """The name that others see beside what is done here."""
    job: str = ""
    """The id that long work gets as a job, so that it can be followed and stopped; "" for any."""

    def get(self, *path: object, **query: object) -> Any:
        """Ask for something; a query that is None is left out."""
        return self._ask("GET", path, query)

    def listed(self, *path: object, **query: object) -> list[dict[str, Any]]:
        """Ask for a list; it is the member of the answer that the path ends with."""
        found: list[dict[str, Any]] = self.get(*path, **query)[path[-1]]
        return found

    def post(self, *path: object, **body: Any) -> Any:
        """Do something; members that are None are left out."""
        return self._ask("POST", path, {}, {k: v for k, v in body.items() if v is not None})

    def put(self, *path: object, **body: Any) -> Any:
        """Say what something is to be; a member that is None takes it back."""
        return self._ask("PUT", path, {}, body)

    def patch(self, *path: object, **body: Any) -> Any:
        """Change something."""
        return self._ask("PATCH", path, {}, body)

    def delete(self, *path: object) -> Any:
        """Delete something."""
        return self._ask("DELETE", path, {})

    def new_session(
        self, app: str, *, name: str | None = None, state: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Make a session of the user that the page's sessions are of; `name` is its id.

        Raises NotThere if there is no such app.
        """
        made = self.post("apps", app, "users", USER, "sessions", sessionId=name, state=state)
        return self.listed("api", "sessions", app=app, user=USER, id=str(made["id"]))[0]

    def settled(self, position: dict[str, Any], *, seconds: float = inf) -> dict[str, Any]:
        """Wait until the run of a position is held or over, at most so long; where it then is."""
        until = time.monotonic() + seconds
        while position["status"] in UNDER_WAY and (left := until - time.monotonic()) > 0:
            path = ("api", "runs", position["run"])
            position = self.get(
                *path, after=position["position"], seconds=ceil(min(left, _LONGEST_ANSWER))
            )
        return position

    def download(self, *path: object, **query: object) -> Iterator[bytes]:
        """A file, in the pieces in which it comes. One that ends too early raises NoServer."""
        with closing(self._connection()) as connection:
            response = self._send(connection, "GET", path, query)
            if response.status >= _ERRORS:
                raise self._failure(response)
            try:
                while piece := response.read(_PIECE):
                    yield piece
            except (OSError, HTTPException) as error:
                raise self._silent(error) from error

    def upload(self, file: IO[bytes], *path: object, **query: object) -> Any:
        """Send a file as it is, and return the answer."""
        with closing(self._connection()) as connection:
            response = self._send(connection, "POST", path, query, file)
            if response.status >= _ERRORS:
                raise self._failure(response)
            return json.loads(response.read())

    def stream(self, *path: object, **query: object) -> Iterator[Frame]:
        """The messages of a stream of server-sent events, as they come, until it ends."""
        with closing(self._connection()) as connection:
            response = self._send(connection, "GET", path, query)
            if response.status >= _ERRORS:
                raise self._failure(response)
            fields: dict[str, str] = {}
            for line in self._lines(response):
                name, _, value = line.partition(": ")
                if line and name:
                    fields[name] = value
                elif not line and "data" in fields:
                    yield Frame(fields.pop("event", ""), fields.pop("data"))

    def _ask(
        self, method: str, path: tuple[object, ...], query: dict[str, object], body: Any = None
    ) -> Any:
        with closing(self._connection()) as connection:
            response = self._send(connection, method, path, query, body)
            if response.status >= _ERRORS:
                raise self._failure(response)
            return json.loads(response.read())

    def _connection(self) -> HTTPConnection:
        place = urlsplit(self.url)
        kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
        return kind(place.hostname or "", place.port, timeout=_PATIENCE)

    def _send(
        self,
        connection: HTTPConnection,
        method: str,
        path: tuple[object, ...],
        query: dict[str, object],
        body: Any = None,
    ) -> HTTPResponse:
        target = "/".join([urlsplit(self.url).path.rstrip("/"), *map(_segment, path)])
        given = {name: value for name, value in query.items() if value is not None}
        target += f"?{urlencode(given, doseq=True)}" if given else ""
        headers = {"Accept": "application/json"}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= {"X-Devui-Job": self.job} if self.job else {}
        headers |= {} if body is None else {"Content-Type": "application/json"}
        text = body if body is None or isinstance(body, IOBase) else json.dumps(body)
        try:
            connection.request(method, target, text, headers)
            return connection.getresponse()
        except (OSError, HTTPException) as error:
            raise self._silent(error) from error

    def _lines(self, response: HTTPResponse) -> Iterator[str]:
        try:
            while line := response.readline():
                yield line.decode().rstrip("\r\n")
        except (OSError, HTTPException) as error:
            raise self._silent(error) from error

    def _silent(self, error: Exception) -> NoServer:
        return NoServer(
            f"no server answers at {self.url}: {error or type(error).__name__}. Check that it is"
            " running and that the address is right"
        )

    def _failure(self, response: HTTPResponse) -> Failed:
        kind = _KINDS.get(response.status, Failed)
        text = response.read().decode(errors="replace")
        answer = _parsed(text)
        detail = _sentence(answer.get("detail") or text.strip() or f"status {response.status}")
        if kind is NotSignedIn:
            return NotSignedIn(
                f"the server at {self.url} rejected the token ({detail}); pass the token it printed"
                " at startup with --token or DEVUI_TOKEN"
            )
        if kind is MovedOn:
            return MovedOn(detail, answer.get("position"), answer.get("unknown") or ())
        return kind(detail)


def _segment(part: object) -> str:
    return quote(str(part), safe="")


def _parsed(text: str) -> dict[str, Any]:
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _sentence(detail: Any) -> str:
    """One text of what a body of the wrong shape was told, which is a list."""
    if isinstance(detail, list):
        return "; ".join(map(_problem, detail))
    return str(detail)


def _problem(each: Any) -> str:
    """What is wrong, and where in the body if that is not said."""
    said = str(each.get("msg", each))
    _, *place = each.get("loc") or ("body",)
    name = ".".join(map(str, place))
    return said if not name or said.startswith(str(place[0])) else f"{name}: {said}"
