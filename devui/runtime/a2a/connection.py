"""The way to an agent of another server: its card, and messages to it (adk-runtime 14)."""

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

# The card of an agent of another server: its purpose, and where messages go (adk-runtime 14).


_WEB = ("http://", "https://")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WHERE = (
    "It is mostly at the server's address with AGENT_CARD_WELL_KNOWN_PATH behind it; an address"
    " without a path means that."
)
REFUSED = frozenset({401, 403})
CREDENTIALS = (
    'Give credentials: httpx_client=httpx.AsyncClient(headers={"Authorization": "Bearer ..."}).'
)
_LONGEST_DESCRIPTION = 1024
"""Characters of a description that came over the network."""


class AgentCardResolutionError(Exception):
    """There is no card, or none that can be used; the message says what to do."""


async def read_card(source: str, http: httpx.AsyncClient) -> AgentCard:
    """The card at an address or in a file.

    What comes over the network may only name addresses of the server that it came from: messages
    go there, and headers with credentials.

    Raises:
        AgentCardResolutionError: it cannot be had, or says nothing of where messages go.
    """
    if source.startswith(_WEB):
        card = await _fetch_card(source, http)
    else:
        card = await asyncio.to_thread(_from_file, Path(source))
    if not any(interface.url for interface in card.supported_interfaces):
        raise AgentCardResolutionError(
            f"The agent card {source!r} has no address for messages; its server has to put one"
            " into `supportedInterfaces`."
        )
    return card


def description_of(card: AgentCard, source: str | None) -> str:
    """What the card says that the agent is for, as other agents' models may read it.

    Words from the network are cut and quoted: they could pose as the developer's.
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
                f"The agent card {source!r} sends messages elsewhere, to {interface.url!r}. If you"
                " trust that server, save the card in a file and give its path."
            )
    return card


def _why(source: str, error: Exception) -> str:
    cause = error.__cause__
    if isinstance(cause, httpx.HTTPStatusError):
        status = cause.response.status_code
        problem = f"The server answers HTTP {status} instead of the agent card {source!r}."
        return f"{problem} {CREDENTIALS}" if status in REFUSED else f"{problem} {_WHERE}"
    if isinstance(cause, httpx.RequestError):
        reason = str(cause) or type(cause).__name__
        return f"The agent card {source!r} cannot be fetched: {reason}. Is the server running?"
    return f"What {source!r} gives is no agent card: {error}. {_WHERE}"


def _from_file(path: Path) -> AgentCard:
    try:
        return parse_agent_card(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise AgentCardResolutionError(
            f"There is no agent card file {str(path)!r}; give a path that is right from"
            f" {str(Path.cwd())!r}, or an address that begins with http:// or https://."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise AgentCardResolutionError(f"The agent card {path} cannot be read: {error}") from error
    except (ValueError, ParseError) as error:
        raise AgentCardResolutionError(
            f"{path} holds no agent card: {error}. It has to be the JSON that the other server"
            " gives at its AGENT_CARD_WELL_KNOWN_PATH."
        ) from error


def _origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address to which messages may be sent."""
    try:
        address = urlsplit(url)
        port = address.port or _DEFAULT_PORTS.get(address.scheme)
    except ValueError as error:
        raise AgentCardResolutionError(f"{url!r} is no address: {error}.") from error
    host = address.hostname or ""
    if address.scheme not in _DEFAULT_PORTS or not host:
        raise AgentCardResolutionError(
            f"{url!r} is no address of a server; it has to begin with https://, and name a host."
        )
    if address.scheme == "http" and not _is_this_machine(host):
        raise AgentCardResolutionError(
            f"{url!r} is not encrypted, so that anyone on the way could answer for the agent; use"
            " https://. Only this machine itself may be asked by http://."
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
"""What a2a-sdk raises, the last ones about answers that have another shape than it expects."""


class A2AClientError(Exception):
    """The other server could not be asked, or its answer not be read; says what to do."""


class RunClient(httpx.AsyncClient):
    """A client for one run, which closes it behind its requests."""


@asynccontextmanager
async def in_use(http: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """The client; closed at the end if it was made for one run, and else left open."""
    try:
        yield http
    finally:
        if isinstance(http, RunClient):
            await http.aclose()


class Connection:
    """Knows where the agent is, once it has been asked for, and asks it."""

    def __init__(
        self,
        agent_card: AgentCard | str,
        *,
        timeout: float,
        factory: ClientFactory | None,
    ) -> None:
        """Note where the card is, and who makes clients if others do.

        Raises:
            TypeError: `agent_card` is neither a card nor a text.
            ValueError: it is empty.
        """
        if not isinstance(agent_card, AgentCard | str):
            raise TypeError(
                f"agent_card is {brief(agent_card)}; give an AgentCard of a2a.types, the address"
                " of one, or the path of a file with one."
            )
        if isinstance(agent_card, str) and not agent_card.strip():
            raise ValueError(
                "agent_card is empty; give the address of a card, such as"
                f" 'https://host{AGENT_CARD_WELL_KNOWN_PATH}', or the path of a file with one."
            )
        self._source = agent_card.strip() if isinstance(agent_card, str) else None
        self._card = None if isinstance(agent_card, str) else agent_card
        self._timeout, self._factory = timeout, factory

    @property
    def description(self) -> str:
        """What the agent is for, by its card; empty as long as nobody has read that."""
        return description_of(self._card, self._source) if self._card else ""

    def client(self) -> RunClient:
        """A client for the requests of one run."""
        return RunClient(timeout=self._timeout, verify=_tls())

    async def resolve(self, http: httpx.AsyncClient) -> AgentCard:
        """The card, read if it is not known.

        Raises:
            AgentCardResolutionError: it cannot be had, or not be used.
        """
        if self._card is None:
            self._card = await read_card(self._source or "", http)
        return self._card

    async def ask(
        self, http: httpx.AsyncClient, request: SendMessageRequest, state: dict[str, Any]
    ) -> AsyncGenerator[StreamResponse, None]:
        """What the agent answers, piece by piece; `state` is for interceptors of a client.

        Raises:
            AgentCardResolutionError: nobody knows where it is.
            A2AClientError: it cannot be asked, or what it answers is not the protocol.
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
                f"The agent can be asked by {ways} only, and none of these is known here; give"
                " a2a_client_factory= one that knows it."
            ) from error
        try:
            yield client
        finally:
            await client.close()

    def _advice(self, error: Exception) -> str:
        """What went wrong with a request, and what to do."""
        cause = error.__cause__
        if isinstance(error, A2AClientTimeoutError | httpx.TimeoutException):
            return (
                f"The other server said nothing for {self._timeout:g} s. Is it stuck? Else give"
                " RemoteA2aAgent a larger timeout=, or its httpx_client= one."
            )
        if isinstance(cause, httpx.HTTPStatusError) and cause.response.status_code in REFUSED:
            return f"It answers HTTP {cause.response.status_code}. {CREDENTIALS}"
        if isinstance(cause, httpx.RequestError):
            return f"{error}. Is the server running, and does its card name the right address?"
        return f"{type(error).__name__}: {error}. The log of the other server may tell more."


def client_of(factory: ClientFactory | None) -> httpx.AsyncClient | None:
    """The client that a factory makes requests with, if it has one.

    The card is fetched with it, too: the server may want its credentials for that.
    """
    return factory._config.httpx_client if factory else None  # a2a-sdk tells it nowhere else


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # reading the certificates is slow; they stay the same
