"""A conversation with an agent, through the Runner."""

from typing import Any

from google.genai import types

from devui.runtime.agents import BaseAgent, RunConfig
from devui.runtime.agents.run_config import StreamingMode
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.events import Event
from devui.runtime.runners import InMemoryRunner
from devui.runtime.sessions import Session

STREAMED = RunConfig(streaming_mode=StreamingMode.SSE)


class Conversation:
    """One session with one agent."""

    def __init__(
        self, agent: BaseAgent, *, state: dict[str, Any] | None = None, plugins: Any = None
    ) -> None:
        self.runner = InMemoryRunner(agent, app_name="app", plugins=plugins)
        self._state = state
        self.heard: list[Event] = []
        """All events that were yielded, including those of failed runs."""

    async def say(
        self, message: str | types.Content, run_config: RunConfig | None = None
    ) -> list[Event]:
        """Run one invocation, and return its events."""
        await self._open()
        content = types.UserContent(message) if isinstance(message, str) else message
        before = len(self.heard)
        async for event in self.runner.run_async(
            user_id="user", session_id="s", new_message=content, run_config=run_config
        ):
            self.heard.append(event)
        return self.heard[before:]

    async def session(self) -> Session:
        """Return the stored session."""
        session = await self.runner.session_service.get_session(
            app_name="app", user_id="user", session_id="s"
        )
        assert session is not None
        return session

    async def _open(self) -> None:
        service = self.runner.session_service
        if await service.get_session(app_name="app", user_id="user", session_id="s") is None:
            await service.create_session(
                app_name="app", user_id="user", session_id="s", state=self._state
            )


def resumable(root: BaseAgent, *, yes: bool) -> Conversation:
    """Return a conversation with an app that says whether it records checkpoints."""
    conversation = Conversation(root)
    settings = ResumabilityConfig(is_resumable=yes)
    conversation.runner = InMemoryRunner(
        app=App(name="app", root_agent=root, resumability_config=settings)
    )
    return conversation


def said(event: Event) -> str:
    """Return the text of an event."""
    parts = (event.content.parts if event.content else None) or []
    return "".join(part.text for part in parts if part.text)


def answer(*parts: str | types.Part) -> types.Content:
    """Return a model's content."""
    content_parts = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    return types.Content(role="model", parts=content_parts)


def call_part(name: str, call_id: str | None = None, **args: Any) -> types.Part:
    """Return a function-call part."""
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=args))


def response_part(name: str, call_id: str | None = None, **response: Any) -> types.Part:
    """Return a function-response part."""
    function_response = types.FunctionResponse(id=call_id, name=name, response=response)
    return types.Part(function_response=function_response)


def outline(contents: list[types.Content]) -> list[tuple[str | None, list[str]]]:
    """Summarize contents: roles and, for each part, its text, `name()` or `name=response`."""
    return [(content.role, [_brief(part) for part in content.parts or []]) for content in contents]


def _brief(part: types.Part) -> str:
    if part.function_call:
        return f"{part.function_call.name}()"
    if part.function_response:
        return f"{part.function_response.name}={part.function_response.response}"
    return part.text or ""
