"""Sessions with a long history, and counts of what a turn on them takes."""

import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.events import Event
from devui.runtime.models import BaseLlm, LlmRequest, LlmResponse
from devui.runtime.sessions import Session
from devui.runtime.sessions.base_session_service import BaseSessionService

WHO = {"app_name": "long", "user_id": "u"}
HISTORY_BEGAN = 1_000_000.0
"""Unix seconds; long ago, so that what is added comes last."""


class Counter:
    """Counts function calls, while told to, in this thread and in those that start meanwhile."""

    def __init__(self) -> None:
        self.calls = 0
        self._counting = False

    def __call__(self, frame: object, event: str, argument: object) -> None:
        self.calls += self._counting and event in {"call", "c_call"}

    @contextmanager
    def counting(self) -> Iterator[None]:
        self.calls, self._counting = 0, True
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            self._counting = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the threads that start. This thread is slowed down only while it is counted."""
        threading.setprofile(self)
        try:
            yield
        finally:
            threading.setprofile(None)


class CountedEvent(Event):
    """An event that counts how often an attribute of any such event is read."""

    reads: ClassVar[int] = 0

    def __getattribute__(self, name: str) -> Any:
        CountedEvent.reads += 1
        return super().__getattribute__(name)


class Rule(BaseLlm):
    """Answers the last part of a request, and reads nothing else of it."""

    model: str = "rule"
    answer: Callable[[types.Part], types.Part]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        part = self.answer(llm_request.contents[-1].parts[-1])
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def agent(name: str, answer: Callable[[types.Part], types.Part], **fields: Any) -> LlmAgent:
    return LlmAgent(name=name, description=name, model=Rule(answer=answer), **fields)


def call(name: str, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


def say(words: str) -> types.Part:
    return types.Part(text=words)


def after(name: str, then: types.Part, otherwise: types.Part) -> Callable[[types.Part], types.Part]:
    """Return one answer to the response of that function, and another to everything else."""

    def answer(last: types.Part) -> types.Part:
        response = last.function_response
        return (then if response and response.name == name else otherwise).model_copy(deep=True)

    return answer


def content(role: str, **part: object) -> types.Content:
    return types.Content(role=role, parts=[types.Part.model_validate(part)])


def told(number: int) -> types.Content:
    """Return the content of a history's event: turns of question, call, response and answer."""
    call_id = f"adk-{number // 4}"
    return [
        content("user", text="look at it"),
        content("model", function_call={"id": call_id, "name": "look", "args": {"what": "it"}}),
        content("user", function_response={"id": call_id, "name": "look", "response": {"a": 1}}),
        content("model", text="done"),
    ][number % 4]


async def grown(
    service: BaseSessionService,
    events: int,
    *,
    author: str,
    kind: type[Event] = Event,
    began: float = HISTORY_BEGAN,
) -> Session:
    """Return a session with so many events: the existing one, or a new one."""
    session_id = f"{events} events from {began:.0f}"
    if session := await service.get_session(**WHO, session_id=session_id):
        return session
    session = await service.create_session(**WHO, session_id=session_id)
    for number in range(events):
        event = kind(
            invocation_id=f"i{number // 4}",
            author="user" if number % 4 == 0 else author,
            content=told(number),
            timestamp=began + number,
        )
        await service.append_event(session, event)
    return session
