"""The connection to an agent on another server: its card, and messages to it (adk-runtime 14)."""

import asyncio
import ipaddress
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from a2a.client import A2ACardResolver, Client, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.card_resolver import parse_agent_card
from a2a.client.errors import A2AClientTimeoutError
from a2a.client.errors import AgentCardResolutionError as NoCardError
from a2a.types import AgentCard, SendMessageRequest, StreamResponse
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH, TransportProtocol
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseError

from devui.runtime.mistakes import brief
from devui.runtime.models.quoting import quote_agent

# The card of an agent on another server: its purpose, and where messages go (adk-runtime 14).


_WEB = ("http://", "https://")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WHERE = (
    "It is usually at the server's URL followed by AGENT_CARD_WELL_KNOWN_PATH, which is the default"
    " for a URL without a path."
)
REFUSED = frozenset({401, 403})
CREDENTIALS = (
    'Pass credentials: httpx_client=httpx.AsyncClient(headers={"Authorization": "Bearer ..."}).'
)
_LONGEST_DESCRIPTION = 1024
"""How many characters of a description from the network are kept."""


class AgentCardResolutionError(Exception):
    """There is no card, or it can't be used; the message says what to do."""


async def read_card(source: str, http: httpx.AsyncClient) -> AgentCard:
    """Read the card at a URL or in a file.

    A card from the network may only name addresses on its own server, since messages go there with
    headers that may hold credentials.

    Raises:
        AgentCardResolutionError: it cannot be read, or doesn't say where messages go.
    """
    if source.startswith(_WEB):
        card = await _fetch_card(source, http)
    else:
        card = await asyncio.to_thread(_from_file, Path(source))
    if not any(interface.url for interface in card.supported_interfaces):
        raise AgentCardResolutionError(
            f"The agent card {source!r} has no URL for messages; its server must add one to"
            " `supportedInterfaces`."
        )
    return card


def description_of(card: AgentCard, source: str | None) -> str:
    """Return the card's description of the agent, fit for other agents' models to read.

    Text from the network is cut and quoted: it could pose as the developer's.
    """
    text: str = card.description
    if not text or source is None or not source.startswith(_WEB):
        return text
    cut = text[:_LONGEST_DESCRIPTION]
    return quote_agent(cut if cut == text else f"{cut} [...]")


async def _fetch_card(source: str, http: httpx.AsyncClient) -> AgentCard:
    origin = _origin(source)
    address = urlsplit(source)
    resolver = A2ACardResolver(http, f"{address.scheme}://{address.netloc}")
    path = f"{address.path}?{address.query}" if address.query else address.path
    try:
        card: AgentCard = await resolver.get_agent_card(relative_card_path=path)
    except NoCardError as error:
        raise AgentCardResolutionError(_why(source, error)) from error
    for interface in card.supported_interfaces:
        if _origin(interface.url) != origin:
            raise AgentCardResolutionError(
                f"The agent card {source!r} sends messages to another server, {interface.url!r}. If"
                " you trust that server, save the card in a file and pass its path."
            )
    return card


def _why(source: str, error: Exception) -> str:
    cause = error.__cause__
    if isinstance(cause, httpx.HTTPStatusError):
        status = cause.response.status_code
        problem = f"The server returned HTTP {status} instead of the agent card {source!r}."
        return f"{problem} {CREDENTIALS}" if status in REFUSED else f"{problem} {_WHERE}"
    if isinstance(cause, httpx.RequestError):
        reason = str(cause) or type(cause).__name__
        return f"The agent card {source!r} cannot be fetched: {reason}. Is the server running?"
    return f"{source!r} returned no valid agent card: {error}. {_WHERE}"


def _from_file(path: Path) -> AgentCard:
    try:
        return parse_agent_card(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise AgentCardResolutionError(
            f"There is no agent card file {str(path)!r}; pass an absolute path, one relative to"
            f" {str(Path.cwd())!r}, or a URL that begins with http:// or https://."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise AgentCardResolutionError(f"The agent card {path} cannot be read: {error}") from error
    except (ValueError, ParseError) as error:
        raise AgentCardResolutionError(
            f"{path} is not a valid agent card: {error}. It must be the JSON that the other server"
            " returns at its AGENT_CARD_WELL_KNOWN_PATH."
        ) from error


def _origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL; raises AgentCardResolutionError if it isn't safe."""
    try:
        address = urlsplit(url)
        port = address.port or _DEFAULT_PORTS.get(address.scheme)
    except ValueError as error:
        raise AgentCardResolutionError(f"{url!r} is not a valid URL: {error}.") from error
    host = address.hostname or ""
    if address.scheme not in _DEFAULT_PORTS or not host:
        raise AgentCardResolutionError(
            f"{url!r} is not a valid URL; it must begin with https:// and include a host."
        )
    if address.scheme == "http" and not _is_this_machine(host):
        raise AgentCardResolutionError(
            f"{url!r} is not encrypted, so anyone on the way could answer for the agent; use"
            " https://. http:// is only allowed for this machine."
        )
    return address.scheme, host, port


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


__all__ = [
    "AGENT_CARD_WELL_KNOWN_PATH",
    "A2AClientError",
    "AgentCardResolutionError",
    "Connection",
]

_TRANSPORTS = [TransportProtocol.JSONRPC.value, TransportProtocol.HTTP_JSON.value]

_NOT_THE_PROTOCOL = (
    *(A2AError, httpx.HTTPError, ParseError),
    *(AttributeError, LookupError, TypeError, ValueError),
)
"""What a2a-sdk raises; the last four, for answers of an unexpected shape."""


class A2AClientError(Exception):
    """A request that failed, or an unreadable answer; the message says what to do."""


class RunClient(httpx.AsyncClient):
    """A client for one run, closed after its requests."""


@asynccontextmanager
async def in_use(http: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """Yield the client, and close it at the end if it was created for one run."""
    try:
        yield http
    finally:
        if isinstance(http, RunClient):
            await http.aclose()


class Connection:
    """Sends messages to the agent, whose card it reads on first use."""

    def __init__(
        self,
        agent_card: AgentCard | str,
        *,
        timeout: float,
        factory: ClientFactory | None,
    ) -> None:
        """Store where the card is, and the factory for clients, if any.

        Raises:
            TypeError: `agent_card` is neither a card nor a string.
            ValueError: it is empty.
        """
        if not isinstance(agent_card, AgentCard | str):
            raise TypeError(
                f"agent_card is {brief(agent_card)}; pass an AgentCard of a2a.types, or the URL or"
                " the file path of one."
            )
        if isinstance(agent_card, str) and not agent_card.strip():
            raise ValueError(
                "agent_card is empty; pass the URL of a card, such as"
                f" 'https://host{AGENT_CARD_WELL_KNOWN_PATH}', or the path of a file with one."
            )
        self._source = agent_card.strip() if isinstance(agent_card, str) else None
        self._card = None if isinstance(agent_card, str) else agent_card
        self._timeout, self._factory = timeout, factory

    @property
    def description(self) -> str:
        """The agent's description by its card; empty until the card has been read."""
        return description_of(self._card, self._source) if self._card else ""

    def client(self) -> RunClient:
        """Create a client for the requests of one run."""
        return RunClient(timeout=self._timeout, verify=_tls())

    async def resolve(self, http: httpx.AsyncClient) -> AgentCard:
        """Return the card, and read it first if necessary.

        Raises:
            AgentCardResolutionError: it cannot be read or used.
        """
        if self._card is None:
            self._card = await read_card(self._source or "", http)
        return self._card

    async def ask(
        self, http: httpx.AsyncClient, request: SendMessageRequest, state: dict[str, Any]
    ) -> AsyncGenerator[StreamResponse, None]:
        """Yield the agent's answer piece by piece; `state` is for a client's interceptors.

        Raises:
            AgentCardResolutionError: the agent's address is unknown.
            A2AClientError: the agent can't be reached, or its answer doesn't follow the protocol.
        """
        async with self._client(http) as client:
            try:
                answer = client.send_message(request, context=ClientCallContext(state=state))
                async with aclosing(cast("AsyncGenerator[StreamResponse, None]", answer)) as items:
                    async for item in items:
                        yield item
            except _NOT_THE_PROTOCOL as error:
                raise A2AClientError(self._advice(error)) from error

    @asynccontextmanager
    async def _client(self, http: httpx.AsyncClient) -> AsyncIterator[Client]:
        card = await self.resolve(http)
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=_TRANSPORTS)
        factory = self._factory or ClientFactory(config)
        try:
            client = factory.create(card)
        except ValueError as error:
            ways = [interface.protocol_binding for interface in card.supported_interfaces]
            raise AgentCardResolutionError(
                f"The agent only supports {ways}, and this client supports none of these; pass an"
                " a2a_client_factory= that does."
            ) from error
        try:
            yield client
        finally:
            await client.close()

    def _advice(self, error: Exception) -> str:
        """Describe what went wrong with a request, and what to do."""
        cause = error.__cause__
        if isinstance(error, A2AClientTimeoutError | httpx.TimeoutException):
            return (
                f"The other server sent nothing for {self._timeout:g} s. If it isn't stuck, pass a"
                " larger timeout= to RemoteA2aAgent, or to its httpx_client=."
            )
        if isinstance(cause, httpx.HTTPStatusError) and cause.response.status_code in REFUSED:
            return f"It returned HTTP {cause.response.status_code}. {CREDENTIALS}"
        if isinstance(cause, httpx.RequestError):
            return f"{error}. Is the server running, and is the URL in its card right?"
        return f"{type(error).__name__}: {error}. See the log of the other server."


def client_of(factory: ClientFactory | None) -> httpx.AsyncClient | None:
    """Return the client that a factory makes requests with, if it has one.

    The card is fetched with it, too, since the server may require its credentials.
    """
    return factory._config.httpx_client if factory else None  # a2a-sdk has no public name for it


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # reading the certificates is slow, and they don't change
