"""Plays one case on one runtime and records everything observable."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from google.genai import types
from pydantic_core import PydanticSerializationError

from tests.differential.namespace import Namespace
from tests.differential.script import Answer, scripted

WHO = {"user_id": "u", "session_id": "s"}
Message = str | types.Content | list[types.Part] | None


class Stage:
    """An app with one session, which records what is done with it."""

    def __init__(self, root: str) -> None:
        self.ns = Namespace(root)
        self.requests: list[Any] = []
        self.notes: list[Any] = []
        self.runs: list[dict[str, Any]] = []
        self.words: set[str] = set()
        """Names and texts of the case; the rest of an instruction is the runtime's wording."""
        self.runner: Any = None
        self.events: list[Any] = []
        """The yielded events of all runs."""

    # Building

    def model(self, *answers: Answer, label: str = "model") -> Any:
        """Return a model that gives these answers."""
        return scripted(self.ns, label, answers, self.requests)

    def agent(self, name: str = "agent", *answers: Answer, **fields: Any) -> Any:
        """Return an agent whose model gives these answers."""
        fields.setdefault("model", self.model(*answers, label=name))
        self.words.update({name, fields.get("description", "")} - {""})
        return self.ns.LlmAgent(name=name, **fields)

    def custom(self, name: str, body: Callable[[Any], AsyncGenerator[Any, None]]) -> Any:
        """Return an agent whose behavior is the function `body`."""
        return self.ns.Custom(name=name, body=body)

    def speaker(self, name: str, *texts: str, **actions: Any) -> Any:
        """Return an agent that says these texts; the last one carries the actions."""

        async def body(ctx):
            for index, text in enumerate(texts, 1):
                event_actions = self.ns.actions(**(actions if index == len(texts) else {}))
                yield self.ns.event(
                    name,
                    text,
                    actions=event_actions,
                    invocation_id=ctx.invocation_id,
                    branch=ctx.branch,
                )

        return self.custom(name, body)

    async def open(
        self,
        root: Any,
        *,
        state: dict[str, Any] | None = None,
        plugins: Any = (),
        resumable: bool = False,
        compaction: dict[str, Any] | None = None,
        services: dict[str, Any] | None = None,
        cache: dict[str, Any] | None = None,
    ) -> "Stage":
        """Create a runner and a session for the root agent."""
        config = self.ns.ResumabilityConfig(is_resumable=True) if resumable else None
        app = self.ns.App(
            name="app",
            root_agent=root,
            plugins=list(plugins),
            resumability_config=config,
            context_cache_config=self.ns.ContextCacheConfig(**cache) if cache else None,
            events_compaction_config=(
                self.ns.EventsCompactionConfig(**compaction) if compaction else None
            ),
        )
        all_services = {
            "session_service": self.ns.InMemorySessionService(),
            "artifact_service": self.ns.InMemoryArtifactService(),
            "memory_service": self.ns.InMemoryMemoryService(),
        } | (services or {})
        self.runner = self.ns.Runner(app=app, **all_services)
        await self.new_session("s", state)
        return self

    async def new_session(self, session: str, state: dict[str, Any] | None = None) -> None:
        """Create another session."""
        await self.runner.session_service.create_session(
            app_name="app", user_id="u", session_id=session, state=state
        )

    # Playing

    async def say(
        self, message: Message = "go", *, session: str = "s", leave: int = 0, **how: Any
    ) -> list[Any]:
        """Run one invocation and record its events and the error it raised.

        Args:
            message: What the user says.
            session: The id of the session.
            leave: Stop reading after this number of events; 0 reads them all.
            how: More arguments of `run_async`.
        """
        run: dict[str, Any] = {"events": [], "error": None}
        self.runs.append(run)
        first = len(self.events)
        events = self.runner.run_async(
            user_id="u", session_id=session, new_message=self._content(message), **how
        )
        try:
            async with aclosing(events):
                async for event in events:
                    run["events"].append(dump(event) | {"final": event.is_final_response()})
                    self.events.append(event)
                    if len(run["events"]) == leave:
                        break
        except Exception as error:  # noqa: BLE001  what a run raises is part of the record
            run["error"] = {"type": type(error).__name__, "message": str(error)}
        return self.events[first:]

    async def stream(self, message: Message = "go", **how: Any) -> list[Any]:
        """Like `say`, with streamed model answers."""
        mode = self.ns.StreamingMode.SSE
        return await self.say(message, run_config=self.ns.RunConfig(streaming_mode=mode), **how)

    async def resume(self, **how: Any) -> list[Any]:
        """Resume the invocation of the latest event."""
        return await self.say(None, invocation_id=self.events[-1].invocation_id, **how)

    async def rewind(self, invocation_id: str) -> None:
        """Rewind the session to before an invocation, and note what that raises."""
        try:
            await self.runner.rewind_async(
                user_id="u", session_id="s", rewind_before_invocation_id=invocation_id
            )
        except Exception as error:  # noqa: BLE001  what it raises is part of the record
            self.note("rewind", type(error).__name__)

    def call(self, name: str) -> Any:
        """Return the latest event with a call of that function."""
        for event in reversed(self.events):
            if any(function_call.name == name for function_call in event.get_function_calls()):
                return event
        raise LookupError(f"nobody called {name}")

    def answer(self, event: Any, index: int = 0, **response: Any) -> types.Content:
        """Return the user's answer to a function call of an event."""
        call = event.get_function_calls()[index]
        function_response = types.FunctionResponse(id=call.id, name=call.name, response=response)
        return types.Content(role="user", parts=[types.Part(function_response=function_response)])

    def note(self, *what: Any) -> None:
        """Add a note to the record; notes are compared, too."""
        self.notes.append(list(what))

    def _content(self, message: Message) -> types.Content | None:
        if isinstance(message, str):
            message = [types.Part(text=message)]
        if isinstance(message, list):
            return types.Content(role="user", parts=message)
        return message

    # Recording

    async def record(self) -> dict[str, Any]:
        """Return the whole record, as JSON."""
        return {
            "runs": self.runs,
            "requests": self.requests,
            "words": sorted(self.words),
            "notes": self.notes,
            "sessions": await self._sessions(),
            "artifacts": await self._artifacts(),
        }

    async def _sessions(self) -> dict[str, Any]:
        if self.runner is None:
            return {}
        service = self.runner.session_service
        response = await service.list_sessions(app_name="app", user_id="u")
        sessions = {}
        for each in response.sessions:
            session = await service.get_session(app_name="app", user_id="u", session_id=each.id)
            events = [dump(event) for event in session.events]
            sessions[each.id] = {"state": session.state, "events": events}
        return sessions

    async def _artifacts(self) -> dict[str, Any]:
        service = self.runner.artifact_service if self.runner else None
        if service is None:
            return {}
        where = {"app_name": "app", "user_id": "u", "session_id": "s"}
        names = await service.list_artifact_keys(**where)
        return {name: await self._versions(service, {**where, "filename": name}) for name in names}

    async def _versions(self, service: Any, file: dict[str, Any]) -> list[Any]:
        """Return all versions of an artifact: number, content and metadata."""
        versions = []
        for version in await service.list_versions(**file):
            part = await service.load_artifact(**file, version=version)
            metadata = await service.get_artifact_version(**file, version=version)
            versions.append([version, _json(part), _json(metadata)])
        return versions


def _json(model: Any) -> Any:
    if model is None:
        return None
    fields = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {key: value for key, value in fields.items() if key != "createTime"}


def dump(event: Any) -> dict[str, Any]:
    """Return an event as clients receive it."""
    try:
        return event.model_dump(mode="json", by_alias=True, exclude_none=True)
    except PydanticSerializationError:
        return {"author": event.author, "has no JSON": True}


async def perform(root: str, play: Callable[[Stage], Any], seconds: float = 300) -> dict[str, Any]:
    """Play a case on the runtime below `root`. The time limit includes library imports."""
    stage = Stage(root)
    async with asyncio.timeout(seconds):
        await play(stage)
        return await stage.record()
