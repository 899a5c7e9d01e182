"""`RemoteA2aAgent`: an agent on another server (adk-runtime 14).

It is a client of the Agent2Agent protocol. Needs `pip install devui[a2a]`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import PrivateAttr

from devui.runtime.a2a.connection import (
    AGENT_CARD_WELL_KNOWN_PATH,
    A2AClientError,
    AgentCardResolutionError,
    Connection,
    client_of,
    in_use,
)
from devui.runtime.a2a.receiving import Answer
from devui.runtime.a2a.sending import ERROR, REQUEST, Sender, as_json, from_a2a, request_of, to_a2a
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.events.event import Event
from devui.runtime.flows.llm_flows.visibility import View

if TYPE_CHECKING:
    import httpx
    from a2a.client import ClientFactory
    from a2a.types import AgentCard, Message, Part

    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext

__all__ = [
    "AGENT_CARD_WELL_KNOWN_PATH",
    "A2AClientError",
    "AgentCardResolutionError",
    "RemoteA2aAgent",
]

A2A_METADATA_PREFIX = "a2a:"
DEFAULT_TIMEOUT = 600.0
"""Seconds."""
_NOT_HERE = (
    "auth_credential",
    "auth_scheme",
    "config",
    "context_builder",
    "credential_key",
    "mode",
    "use_legacy",
)
"""Arguments of google-adk's class that this one does not take."""

logger = logging.getLogger(__name__)


class RemoteA2aAgent(BaseAgent):
    """An agent that runs on another server and is called over the network.

    It is sent what was said since its last answer, and continues in the same context there; answers
    to its questions go to the task that asked. State is not shared. Its answers carry
    `a2a:task_id`, `a2a:context_id`, `a2a:request` and `a2a:response` in their `custom_metadata`.
    Failures become events with an error code that begins with `A2A_`.
    """

    _connection: Connection = PrivateAttr()
    _httpx_client: Any = PrivateAttr(default=None)
    """The client that all runs share, if any."""
    _metadata: Any = PrivateAttr(default=None)
    _to: Any = PrivateAttr()
    _from: Any = PrivateAttr()
    _full_history: bool = PrivateAttr(default=False)

    def __init__(
        self,
        name: str,
        agent_card: AgentCard | str,
        *,
        description: str = "",
        httpx_client: httpx.AsyncClient | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        genai_part_converter: Callable[[types.Part], Part | list[Part] | None] = to_a2a,
        a2a_part_converter: Callable[[Part], types.Part | list[types.Part] | None] = from_a2a,
        a2a_client_factory: ClientFactory | None = None,
        a2a_request_meta_provider: Callable[[InvocationContext, Message], dict[str, Any]]
        | None = None,
        full_history_when_stateless: bool = False,
        **kwargs: Any,
    ) -> None:
        """Describe the agent; nothing is sent yet.

        Args:
            name: Its name here.
            agent_card: The card, or the URL or file that it is read from.
            description: What it is for; without one, the card's.
            httpx_client: Makes the requests, for example with `headers` for credentials; it is left
                open. Without one, each run opens and closes its own.
            timeout: Seconds to wait for each piece of an answer, if the run opens its own client.
            genai_part_converter: Converts parts of contents to parts of messages to send.
            a2a_part_converter: Converts parts of answers to parts of contents.
            a2a_client_factory: Creates the client, for example with other transports; its
                `httpx_client`, if it has one, also fetches the card.
            a2a_request_meta_provider: Returns metadata to send with a message.
            full_history_when_stateless: Whether to send the whole conversation each time to an
                agent that names no context.
            **kwargs: Fields of every agent, such as callbacks.

        Raises:
            TypeError: `agent_card` is neither a card nor a string.
            ValueError: it is empty, or an argument is unknown.
        """
        for wrong in _NOT_HERE:
            if wrong in kwargs:
                raise ValueError(
                    f"RemoteA2aAgent has no `{wrong}`. For credentials, set headers on"
                    " `httpx_client`; for metadata, use `a2a_request_meta_provider`; for what is"
                    " sent and stored, use callbacks and the two part converters."
                )
        connection = Connection(agent_card, timeout=timeout, factory=a2a_client_factory)
        super().__init__(name=name, description=description or connection.description, **kwargs)
        self._connection, self._metadata = connection, a2a_request_meta_provider
        self._to, self._from = genai_part_converter, a2a_part_converter
        self._full_history = full_history_when_stateless
        self._httpx_client = client_of(a2a_client_factory) or httpx_client

    async def described_for_models(self) -> str:
        """Return the description for models; without one, it is read from the card."""
        if not self.description:
            try:
                async with in_use(await self._ensure_httpx_client()) as http:
                    await self._connection.resolve(http)
            except AgentCardResolutionError as error:
                logger.warning("Other agents get no description of agent %r: %s", self.name, error)
            self.description = self._connection.description
        return self.description

    async def cleanup(self) -> None:
        """Do nothing: each run closes the connections that it opened."""

    async def _ensure_httpx_client(self) -> httpx.AsyncClient:
        """Return the client of a run; subclasses may override this, for example to add a token.

        A client that was passed in or is kept stays open; one that is created here is closed after
        the run.
        """
        return self._httpx_client or self._connection.client()

    def _construct_message_parts_from_session(
        self, ctx: InvocationContext
    ) -> tuple[list[Part], str | None]:
        """Return what to send, and the remote id of the conversation; subclasses may override this.

        Answers to the agent's questions are not part of it: they go to the task that waits.
        """
        return self._sender(ctx).news()

    def _sender(self, ctx: InvocationContext) -> Sender:
        view = View(self.name, branch=ctx.branch, scope=ctx.isolation_scope)
        return Sender.of(ctx.session.events, view, self._to, full_history=self._full_history)

    def _message(self, ctx: InvocationContext) -> Message | None:
        sender = self._sender(ctx)
        return sender.answer() or sender.message(*self._construct_message_parts_from_session(ctx))

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        message = self._message(ctx)
        if message is None:
            logger.warning(
                "Agent %r was not called: since its last answer, no content was added that may be"
                " sent to it. Pass it content; state is never sent.",
                self.name,
            )
            yield Event(author=self.name, branch=ctx.branch, content=types.Content())
            return
        message_json = as_json(message)
        request = request_of(message, self._metadata(ctx, message) if self._metadata else {})
        answer = Answer(self.name, ctx.branch, self._from)
        try:
            state = dict(ctx.session.state)
            async with (
                in_use(await self._ensure_httpx_client()) as http,
                aclosing(self._connection.ask(http, request, state)) as items,
            ):
                async for item in items:
                    for event in answer.take(item):
                        yield _with_request(event, message_json)
            for event in answer.end():
                yield _with_request(event, message_json)
        except (A2AClientError, AgentCardResolutionError) as error:
            for event in answer.whole():
                yield _with_request(event, message_json)
            yield _with_request(self._error(ctx, error), message_json)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Run the agent as a node of a workflow; the first text that it answers is its output."""
        has_output = False
        async with aclosing(super()._run_impl(ctx=ctx, node_input=node_input)) as events:
            async for event in events:
                if not has_output and _is_text_answered(event, self.name):
                    event.node_info.message_as_output = has_output = True
                yield event

    def _error(self, ctx: InvocationContext, error: Exception) -> Event:
        is_card = isinstance(error, AgentCardResolutionError)
        return Event(
            author=self.name,
            branch=ctx.branch,
            error_code="A2A_NO_CARD" if is_card else "A2A_REQUEST_FAILED",
            error_message=f"Agent {self.name!r} did not answer. {error}",
            custom_metadata={ERROR: str(error)},
        )


def _with_request(event: Event, message: dict[str, Any]) -> Event:
    """Add the message that it answers to the event, unless that is a fragment."""
    if not event.partial:
        event.custom_metadata = {REQUEST: message, **(event.custom_metadata or {})}
    return event


def _is_text_answered(event: Event, author: str) -> bool:
    """Return whether it is an answer in words: no thought, question, error or fragment."""
    if event.author != author or event.partial or event.error_code or event.get_function_calls():
        return False
    parts = (event.content.parts if event.content else None) or []
    return any(part.text and not part.thought for part in parts)
