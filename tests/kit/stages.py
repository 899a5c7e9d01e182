"""Helpers of the runtime's tests: agents given as functions, and runs of them."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from google.genai import types

from devui.runtime.agents import BaseAgent, InvocationContext
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.events import Event
from devui.runtime.plugins import BasePlugin
from devui.runtime.runners import InMemoryRunner
from devui.runtime.sessions import Session

Body = Callable[[InvocationContext], AsyncGenerator[Event, None]]
WHERE = {"user_id": "u", "session_id": "s"}


class Scripted(BaseAgent):
    """An agent whose behavior is given as a function; without one, it says its name."""

    body: Body | None = None

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if self.body is None:
            yield Event(author=self.name, branch=ctx.branch, content=said(self.name))
            return
        async with aclosing(self.body(ctx)) as events:
            async for event in events:
                yield event


def said(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def texts(events: list[Event]) -> list[str]:
    return [e.content.parts[0].text for e in events if e.content and e.content.parts]


def runner_of(
    agent: BaseAgent, *, plugins: list[BasePlugin] | None = None, resumable: bool = False
) -> InMemoryRunner:
    config = ResumabilityConfig(is_resumable=True) if resumable else None
    app = App(name="app", root_agent=agent, plugins=plugins or [], resumability_config=config)
    runner = InMemoryRunner(app=app)
    runner.auto_create_session = True
    return runner


async def run(runner: InMemoryRunner, text: str | None = "go", **kwargs) -> list[Event]:
    message = said(text) if text else None
    events = runner.run_async(**WHERE, new_message=message, **kwargs)
    return [event async for event in events]


async def stored(runner: InMemoryRunner) -> Session:
    session = await runner.session_service.get_session(app_name=runner.app_name, **WHERE)
    assert session is not None
    return session


class Stage:
    """A runner with one session, and that session as stored."""

    def __init__(self, body: Body, **kwargs) -> None:
        agent = Scripted(name="agent", body=body)
        self.runner = InMemoryRunner(agent, app_name="app", **kwargs)

    async def open(self, state: dict | None = None) -> "Stage":
        await self.runner.session_service.create_session(
            app_name="app", user_id="u", session_id="s", state=state
        )
        return self

    def events(self, text: str = "go", **kwargs) -> AsyncGenerator[Event, None]:
        return self.runner.run_async(user_id="u", session_id="s", new_message=said(text), **kwargs)

    async def stored(self) -> Session:
        session = await self.runner.session_service.get_session(
            app_name="app", user_id="u", session_id="s"
        )
        assert session is not None
        return session
