"""Records agents, model calls and tool calls as spans, with what was sent and returned (0009).

It wraps each of them inside all callbacks, so it sees what was really sent. Nothing waits for the
recorder: its messages travel along with the next event.
"""

import json
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from devui.runtime.jsonable import with_lists
from devui.runtime.mistakes import message_of
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.wire.framing import FrameTooLarge
from devui.wire.messages import ToServer
from devui.wire.pieces import piece_name
from devui.wire.spans import CANCELLED, Prompt, SpanBegan, SpanEnded
from devui.worker.engines.kit import (
    BaseAgent,
    BaseTool,
    Context,
    Event,
    InvocationContext,
    Kit,
    LlmRequest,
    LlmResponse,
)
from devui.worker.errors import sendable
from devui.worker.instruments.answer_content import AnswerContent
from devui.worker.instruments.gates import model_key
from devui.worker.json_text import actions_now, as_json, changed_since
from devui.worker.output import current_run

_APART = {"system_instruction", "tools", "http_options", "response_schema"}
"""Configuration fields that aren't settings: separate pieces, and fields that may hold secrets."""
_REMEMBERED_NAMES = 100_000
"""How many names of pieces are remembered; sending a piece again does no harm."""


class Prompts:
    """Tracks which pieces the server has, per session."""

    def __init__(self) -> None:
        self._sent_pieces: OrderedDict[tuple[int, str], None] = OrderedDict()

    def of(self, session: int, request: LlmRequest, *, stream: bool) -> Prompt:
        """Describe the request as it is now, for the session with this key."""
        pieces: dict[str, str] = {}

        def piece(value: Any) -> str | None:
            return self._name_piece(session, as_json(value), pieces) if value else None

        config = request.config
        settings = config.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude=_APART, fallback=repr
        )
        if config.response_schema is not None:
            settings["responseSchema"] = _schema(config.response_schema)
        return Prompt(
            model=request.model,
            system=piece(config.system_instruction),
            tools=piece(config.tools),
            config=piece(settings),
            contents=[
                self._name_piece(session, as_json(each), pieces) for each in request.contents
            ],
            pieces=pieces,
            stream=stream,
        )

    def not_sent(self, session: int, prompt: Prompt) -> None:
        """Forget the pieces of a prompt that did not reach the server."""
        for name in prompt.pieces:
            self._sent_pieces.pop((session, name), None)

    def _name_piece(self, session: int, text: str, pieces: dict[str, str]) -> str:
        name = piece_name(text)
        recent = self._sent_pieces
        if (session, name) in recent:
            recent.move_to_end((session, name))
            return name
        recent[session, name] = None
        if len(recent) > _REMEMBERED_NAMES:
            recent.popitem(last=False)
        pieces[name] = text
        return name


def _schema(schema: Any) -> Any:
    """Return the schema as JSON; the name of a type that isn't a model."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_json_schema()
    return json.loads(as_json(schema))


_MAX_ERROR = 2000

_around: ContextVar[int | None] = ContextVar("devui_span", default=None)
"""The span of the agent or tool whose code is executing."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an event comes from."""

    spans: list[int]
    is_changed: bool = False
    """Whether it says something other than the model's answer it is based on."""


@dataclass(slots=True)
class _Run:
    """The recorder's data for a run in progress."""

    session: int
    spans: int = 0
    causes: dict[str, list[int]] = field(default_factory=dict)
    """The spans behind the next event, by call, or agent and branch."""
    answers: dict[str, AnswerContent] = field(default_factory=dict)
    """The model's answer behind the next event, by agent and branch."""


@dataclass(slots=True)
class _OpenSpan:
    """A span that has begun."""

    run: str
    number: int
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    first: float | None = None
    results: list[str] = field(default_factory=list)
    """A tool's result, or `[seconds, response]` for each response of a model."""
    error: str | None = None
    effects: str | None = None
    complete: bool = False
    """Whether it ran to completion."""
    unreported: bool = True
    """Whether the server lacks some of its data."""

    def elapsed(self) -> float:
        """Measure and return the seconds so far."""
        self.seconds = time.monotonic() - self.began
        return self.seconds

    def message(self, result: str | None) -> SpanEnded:
        """Build the message for the server."""
        self.unreported = False
        return SpanEnded(
            run=self.run,
            span=self.number,
            seconds=self.seconds,
            first=self.first,
            result=result,
            error=self.error,
            effects=self.effects,
        )


class Recorder(BasePlugin):
    """The plugin that wraps all others."""

    def __init__(self, send: Callable[[ToServer], None], kit: Kit) -> None:
        super().__init__("devui_recorder")
        self._send = send
        self._kit = kit
        self._runs: dict[str, _Run] = {}
        self._prompts = Prompts()

    def begin(self, run: str, session_key: int) -> None:
        """Prepare for a run that begins on the session with this key."""
        self._runs[run] = _Run(session_key)

    def forget(self, run: str) -> None:
        """Discard the data of a run that has ended."""
        self._runs.pop(run, None)

    def origin(self, run: str | None, event: Event) -> Origin:
        """Return the origin of the event, and forget it."""
        record = self._runs.get(run or "")
        if record is None or not record.causes:
            return Origin([])
        calls = [str(each.id) for each in event.get_function_responses()]
        keys = calls or [model_key(event.author, event.branch)]
        spans = [span for key in keys for span in record.causes.pop(key, [])]
        answer = None if calls else record.answers.pop(keys[0], None)
        return Origin(spans, answer is not None and answer.differs(AnswerContent.of(event)))

    async def around_agent(
        self,
        *,
        agent: BaseAgent,
        invocation_context: InvocationContext,
        proceed: Callable[[], AsyncGenerator[Event, None]],
    ) -> AsyncGenerator[Event, None]:
        """Record a span from the agent's first callback to its last."""
        branch = invocation_context.branch
        span = self._begin(type="agent", name=agent.name, agent=agent.name, branch=branch)
        with self._inside(span):
            async with aclosing(proceed()) as events:
                async for event in events:
                    yield event

    async def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Record a span with the request as sent, and each response as received."""
        agent, branch = callback_context.agent_name, callback_context.branch
        span = self._begin(
            type="model",
            name=llm_request.model or "",
            agent=agent,
            branch=branch,
            prompt=self._prompt(llm_request, stream=stream),
        )
        with self._ending(span, _responses):
            async with aclosing(proceed(llm_request)) as answers:
                async for answer in answers:
                    _hear(span, answer)
                    if span.complete:
                        self._add_cause(span, model_key(agent, branch), answer)
                        self._tell(span, _responses)  # its tools run before the stream is closed
                    waits = time.monotonic()
                    yield answer
                    span.began += time.monotonic() - waits  # exclude the consumer's time

    async def around_tool_call(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Any:
        """Record a span with the arguments, and the result as the tool returned it."""
        call = tool_context.function_call_id
        span = self._begin(
            type="tool",
            name=tool.name,
            agent=tool_context.agent_name,
            branch=tool_context.branch,
            call=call,
            args=as_json(tool_args),
        )
        if call:
            self._add_cause(span, call)
        before = actions_now(tool_context)
        with self._inside(span):
            try:
                result = with_lists(await proceed())
            finally:  # what a tool did before it raised counts, too
                span.effects = changed_since(self._kit, tool_context, before)
            span.results.append(as_json(result))
            return result

    def _prompt(self, request: LlmRequest, *, stream: bool) -> Any:
        record = self._runs.get(current_run.get() or "")
        return self._prompts.of(record.session, request, stream=stream) if record else None

    def _begin(self, **about: Any) -> _OpenSpan:
        run = current_run.get() or ""
        record = self._runs.setdefault(run, _Run(0))
        record.spans += 1
        span = _OpenSpan(run, record.spans)
        message = SpanBegan(
            run=run, span=span.number, parent=_around.get(), at=time.time(), **about
        )
        try:
            self._send(message)
        except FrameTooLarge:
            if message.prompt is not None:
                self._prompts.not_sent(record.session, message.prompt)
            self._send(replace(message, prompt=None, args=None))
        return span

    def _add_cause(self, span: _OpenSpan, key: str, answer: LlmResponse | None = None) -> None:
        if record := self._runs.get(span.run):
            record.causes[key] = [span.number]
            if answer is not None:
                record.answers[key] = AnswerContent.of(answer)

    @contextmanager
    def _inside(self, span: _OpenSpan) -> Iterator[None]:
        """Make this span the parent of those that begin inside the block."""
        outer = _around.get()
        _around.set(span.number)
        try:
            with self._ending(span, _only):
                yield
                span.complete = True
                span.elapsed()
        finally:
            _around.set(outer)

    @contextmanager
    def _ending(self, span: _OpenSpan, result: Callable[[_OpenSpan], str | None]) -> Iterator[None]:
        """Report how the span ended."""
        try:
            yield
        except Exception as error:
            span.error = sendable(f"{type(error).__name__}: {message_of(error)}"[:_MAX_ERROR])
            raise
        except BaseException:  # cancelled, or closed by whoever reads the events
            if not span.complete:
                span.error = CANCELLED
            raise
        finally:
            if not span.complete:
                span.elapsed()
            if span.unreported or span.error:
                self._tell(span, result)

    def _tell(self, span: _OpenSpan, result: Callable[[_OpenSpan], str | None]) -> None:
        try:
            self._send(span.message(result(span)))
        except FrameTooLarge:
            self._send(replace(span.message(None), effects=None))


def _hear(span: _OpenSpan, answer: LlmResponse) -> None:
    seconds = span.elapsed()
    span.first = seconds if span.first is None else span.first
    span.results.append(f"[{seconds:.6f},{as_json(answer)}]")
    span.complete, span.unreported = not answer.partial, True


def _responses(span: _OpenSpan) -> str:
    return f"[{','.join(span.results)}]"


def _only(span: _OpenSpan) -> str | None:
    return span.results[0] if span.results else None
