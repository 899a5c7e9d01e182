"""A turn on a long session does the work of a turn on a short one: what is new, and no more.

Calls are counted, in all threads, since times depend on the machine. Source: runtime seed ("history
changes only at its end").
"""

import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.events import Event
from devui.runtime.models import BaseLlm, LlmRequest, LlmResponse
from devui.runtime.runners import Runner
from devui.runtime.sessions import InMemorySessionService
from devui.runtime.sessions.base_session_service import BaseSessionService
from devui.runtime.sessions.sqlite_session_service import SqliteSessionService

WHO = {"app_name": "long", "user_id": "u"}
HISTORY_BEGAN = 1_000_000.0
"""Unix seconds; long ago, so that what is added comes last."""


class Seer(BaseLlm):
    """Looks, and says what it has seen; it reads no more than the end of a request."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = llm_request.contents[-1].parts[0]
        call = {"name": "look", "args": {"what": "it"}}
        answer = {"text": "seen"} if last.function_response else {"function_call": call}
        yield LlmResponse(content=content("model", **answer))


class Counter:
    """Counts the functions that run in threads begun under it, and in this one, while told to."""

    def __init__(self) -> None:
        self.calls = 0
        self._counting = False

    def __call__(self, frame: object, event: str, argument: object) -> None:
        self.calls += self._counting and event in {"call", "c_call"}

    @contextmanager
    def counting(self) -> Iterator[None]:
        self.calls, self._counting = 0, True
        try:
            yield
        finally:
            self._counting = False


@pytest.fixture
def counter() -> Iterator[Counter]:
    counter = Counter()
    threading.setprofile(counter)
    sys.setprofile(counter)
    yield counter
    sys.setprofile(None)
    threading.setprofile(None)


@pytest.fixture(params=["memory", "sqlite"])
def service(request, tmp_path, counter) -> BaseSessionService:
    """A service, whose threads begin under the counter."""
    if request.param == "memory":
        return InMemorySessionService()
    return SqliteSessionService(tmp_path / "sessions.db")


def look(what: str) -> dict[str, str]:
    """Look at something."""
    return {"seen": what}


def content(role: str, **part: object) -> types.Content:
    return types.Content(role=role, parts=[types.Part.model_validate(part)])


def told(number: int) -> types.Content:
    """What the event of a history says: turns of question, call, response and answer."""
    call = f"adk-{number // 4}"
    return [
        content("user", text="look at it"),
        content("model", function_call={"id": call, "name": "look", "args": {"what": "it"}}),
        content("user", function_response={"id": call, "name": "look", "response": {"a": 1}}),
        content("model", text="done"),
    ][number % 4]


async def calls_of_a_turn(service: BaseSessionService, counter: Counter, history: int) -> int:
    """How many functions run in the third turn on a session that had so many events."""
    session = await service.create_session(**WHO, session_id=f"s{history}")
    for number in range(history):
        event = Event(
            invocation_id=f"i{number // 4}",
            author="user" if number % 4 == 0 else "seer",
            content=told(number),
            timestamp=HISTORY_BEGAN + number,
        )
        await service.append_event(session, event)
    agent = LlmAgent(name="seer", model=Seer(model="seer"), tools=[look])
    runner = Runner(app_name=WHO["app_name"], agent=agent, session_service=service)
    for _ in range(3):
        message = content("user", text="look again")
        with counter.counting():
            async for _ in runner.run_async(
                user_id=WHO["user_id"], session_id=session.id, new_message=message
            ):
                pass
    return counter.calls


async def test_a_turn_on_a_long_session_does_no_more_than_on_a_short_one(service, counter):
    await calls_of_a_turn(service, counter, 8)  # what is built once
    short = await calls_of_a_turn(service, counter, 12)
    assert await calls_of_a_turn(service, counter, 1_000) < 1.2 * short
