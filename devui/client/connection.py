"""The HTTP connection to a server: requests, answers and streams."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import IOBase
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode, urlsplit
from weakref import WeakSet

from devui.failures import (
    AuthenticationError,
    BadRequestError,
    ConflictError,
    DevuiError,
    NotFoundError,
    UnavailableError,
)

_PATIENCE: Final = 60.0
"""The socket timeout in seconds; answers take at most 30, and streams send something every 15."""
_KINDS: Final[dict[int, type[DevuiError]]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: AuthenticationError,
    404: NotFoundError,
    409: ConflictError,
    413: BadRequestError,
    422: BadRequestError,
}
_ERRORS: Final = 400
_PIECE: Final = 1 << 16

_Path = tuple[object, ...]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Frame:
    """A message of a stream."""

    event: str
    data: str


class Stream(Iterator[_T]):
    """An answer that arrives in parts, on a connection that stays open until its end or `close`."""

    def __init__(
        self, items: Iterator[_T], response: HTTPResponse, connection: HTTPConnection
    ) -> None:
        self._items = items
        self._response = response
        self._connection = connection

    def __del__(self) -> None:
        self.close()

    def __next__(self) -> _T:
        try:
            return next(self._items)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop reading, and close the connection."""
        self._items = iter(())
        self._response.close()
        self._connection.close()


@dataclass(frozen=True)
class Connection:
    """Sends requests to one server, for the endpoint methods. Raises errors of `devui.failures`."""

    url: str
    """The server's URL, such as `http://127.0.0.1:8000`; a path is a prefix of all requests."""
    token: str = field(default="", repr=False)
    """Empty if no sign-in is needed."""
    actor: str = "api"
    """The name that others see beside what this client does."""
    job: str = ""
    """The id for the jobs of long operations, with which they can be followed and stopped; "" lets
    the server choose."""
    _open: "WeakSet[Stream[Any]]" = field(
        default_factory=WeakSet, init=False, repr=False, compare=False
    )
    """Streams and downloads that haven't been read to their end."""

    def close(self) -> None:
        """End the streams and downloads that are still open."""
        for each in list(self._open):
            each.close()

    def _get(self, *path: object, **query: object) -> Any:
        """Send a GET request; leaves out query parameters that are None."""
        return self._ask("GET", path, query)

    def _post(self, *path: object, **body: Any) -> Any:
        """Send a POST request with a JSON object; leaves out members that are None."""
        return self._ask("POST", path, {}, _without_none(body))

    def _put(self, *path: object, **body: Any) -> Any:
        """Send a PUT request with a JSON object; members that are None reset values."""
        return self._ask("PUT", path, {}, body)

    def _patch(self, *path: object, **body: Any) -> Any:
        """Send a PATCH request with a JSON object; leaves out members that are None."""
        return self._ask("PATCH", path, {}, _without_none(body))

    def _delete(self, *path: object) -> Any:
        """Send a DELETE request."""
        return self._ask("DELETE", path, {})

    def _upload(self, body: object, *path: object, **query: object) -> Any:
        """Send a POST request with a file verbatim, or any other value as JSON."""
        return self._ask("POST", path, query, body)

    def _get_text(self, *path: object, **query: object) -> str:
        """Return an answer that is text and not JSON."""
        return b"".join(self._download(*path, **query)).decode()

    def _download(self, *path: object, **query: object) -> "Stream[bytes]":
        """Return the parts of a file as they arrive. Raises UnavailableError if it is cut off."""
        return self._stream(self._pieces, "GET", path, query)

    def _follow(self, *path: object, **query: object) -> "Stream[Any]":
        """Return the messages of a session's stream as they arrive.

        Raises UnavailableError when the server ends the stream, DevuiError if the reader is too
        slow and has missed messages.
        """
        return self._stream(self._news, "GET", path, query)

    def _post_stream(self, *path: object, **body: Any) -> "Stream[Any]":
        """Send a POST request with a JSON object, and return the messages of the answer.

        Raises DevuiError for a message that reports a failure.
        """
        return self._stream(self._messages, "POST", path, {}, _without_none(body))

    def _stream(
        self,
        read: Callable[[HTTPResponse], Iterator[_T]],
        method: str,
        path: _Path,
        query: dict[str, object],
        body: object = None,
    ) -> "Stream[_T]":
        """Send a request, and return its answer as a stream of what `read` yields."""
        connection = self._connection()
        try:
            response = self._successful(connection, method, path, query, body)
        except DevuiError:
            connection.close()
            raise
        stream = Stream(read(response), response, connection)
        self._open.add(stream)
        return stream

    def _pieces(self, response: HTTPResponse) -> Iterator[bytes]:
        try:
            while piece := response.read(_PIECE):
                yield piece
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error

    def _news(self, response: HTTPResponse) -> Iterator[Any]:
        for frame in self._frames(response):
            if frame.event == "away":
                raise UnavailableError(
                    "the server is shutting down; committed events are in the journal"
                )
            if frame.event == "reset":
                raise DevuiError("fell too far behind the stream; attach again")
            if frame.event:
                break
            yield json.loads(frame.data)
        raise UnavailableError(f"the server at {self.url} closed the stream")

    def _messages(self, response: HTTPResponse) -> Iterator[Any]:
        for frame in self._frames(response):
            message = json.loads(frame.data)
            if "error_details" in message:
                raise DevuiError(message["error"])
            yield message

    def _frames(self, response: HTTPResponse) -> Iterator[_Frame]:
        """Yield the messages of a stream of server-sent events."""
        fields: dict[str, str] = {}
        for line in self._lines(response):
            name, _, value = line.partition(": ")
            if line and name:
                fields[name] = value
            elif not line and "data" in fields:
                yield _Frame(fields.pop("event", ""), fields.pop("data"))

    def _ask(self, method: str, path: _Path, query: dict[str, object], body: object = None) -> Any:
        with closing(self._connection()) as connection:
            text = self._text(self._successful(connection, method, path, query, body))
        try:
            return json.loads(text) if text else None
        except ValueError as error:
            raise DevuiError(f"the answer of {self.url} is not JSON; check the address") from error

    def _text(self, response: HTTPResponse) -> bytes:
        try:
            return response.read()
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error

    def _successful(
        self,
        connection: HTTPConnection,
        method: str,
        path: _Path,
        query: dict[str, object],
        body: object = None,
    ) -> HTTPResponse:
        """Send a request and return its answer. Raises an error of `devui.failures`."""
        response = self._send(connection, method, path, query, body)
        if response.status >= _ERRORS:
            raise self._failure(response)
        return response

    def _connection(self) -> HTTPConnection:
        place = urlsplit(self.url)
        kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
        return kind(place.hostname or "", place.port, timeout=_PATIENCE)

    def _send(
        self,
        connection: HTTPConnection,
        method: str,
        path: _Path,
        query: dict[str, object],
        body: Any = None,
    ) -> HTTPResponse:
        target = "/".join([urlsplit(self.url).path.rstrip("/"), *map(_segment, path)])
        parameters = {name: _word(value) for name, value in _without_none(query).items()}
        target += f"?{urlencode(parameters, doseq=True)}" if parameters else ""
        headers = {"Accept": "application/json"}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= {"X-Devui-Job": self.job} if self.job else {}
        headers |= {} if body is None else {"Content-Type": "application/json"}
        is_ready = body is None or isinstance(body, IOBase)
        text = body if is_ready else json.dumps(body, default=_plain)
        try:
            connection.request(method, target, text, headers)
            return connection.getresponse()
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error

    def _lines(self, response: HTTPResponse) -> Iterator[str]:
        try:
            while line := response.readline():
                yield line.decode().rstrip("\r\n")
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> UnavailableError:
        return UnavailableError(
            f"no server answers at {self.url}: {error or type(error).__name__}. Check that it is"
            " running and that the address is right"
        )

    def _failure(self, response: HTTPResponse) -> DevuiError:
        failure = self._kind_of_failure(
            response.status, self._text(response).decode(errors="replace")
        )
        failure.status = response.status
        return failure

    def _kind_of_failure(self, status: int, text: str) -> DevuiError:
        kind = _KINDS.get(status, DevuiError)
        answer = _parse(text)
        message = answer.get("detail") or answer.get("message")  # the latter from OTLP endpoints
        detail = _sentence(message or text.strip() or f"status {status}")
        if kind is AuthenticationError:
            return AuthenticationError(
                f"the server at {self.url} rejected the token ({detail}). It printed its token at"
                " startup: pass it with --token or DEVUI_TOKEN, or as Client(url, token)"
            )
        if kind is ConflictError:
            return ConflictError(detail, answer.get("position"), answer.get("unknown") or ())
        return kind(detail)


def _without_none(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _plain(value: object) -> object:
    """Convert any kind of mapping for JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} isn't JSON")


def _word(value: object) -> object:
    """Return a query value, with booleans as JSON spells them."""
    return json.dumps(value) if isinstance(value, bool) else value


def _segment(part: object) -> str:
    return quote(str(part), safe="")


def _parse(text: str) -> dict[str, Any]:
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _sentence(detail: Any) -> str:
    """Return an error's detail as one text; that of an invalid body is a list of problems."""
    if isinstance(detail, list):
        return "; ".join(map(_problem, detail))
    return str(detail)


def _problem(each: Any) -> str:
    """Return what is wrong, with the place in the body unless the message begins with it."""
    message = str(each.get("msg", each))
    _, *place = each.get("loc") or ("body",)
    name = ".".join(map(str, place))
    return message if not name or message.startswith(str(place[0])) else f"{name}: {message}"
