"""The way to an agent of another server: its card, and messages to it (adk-runtime 14)."""

import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import cache
from typing import Any, cast

import httpx
from a2a.client import Client, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientTimeoutError
from a2a.types import AgentCard, SendMessageRequest, StreamResponse
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH, TransportProtocol
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseError

from devui.runtime.a2a.card import (
    CREDENTIALS,
    REFUSED,
    AgentCardResolutionError,
    description_of,
    read_card,
)
from devui.runtime.mistakes import given

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
                f"agent_card is {given(agent_card)}; give an AgentCard of a2a.types, the address"
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
