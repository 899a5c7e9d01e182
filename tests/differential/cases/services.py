"""Services that fail, and what a run leaves behind."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.differing_files import (
    AHEAD,
    APPENDED_TWICE,
    NAMELESS,
    SHARED,
    SYNC_URLS,
)
from tests.differential.script import Boom, Say, call


def look() -> str:
    """Looks."""
    return "ok"


async def save(tool_context) -> Any:
    """Saves."""
    return await tool_context.save_artifact("f.txt", types.Part(text="t"))


def failing_sessions(stage: Any, number: int, error: str = "boom") -> Any:
    """Return a session service whose append with this number raises once."""

    class Failing(stage.ns.InMemorySessionService):
        count = 0

        async def append_event(self, session, event):
            if not event.partial:
                Failing.count += 1
                if Failing.count == number:
                    raise Boom(error)
            return await super().append_event(session, event)

    return Failing()


async def _append(stage, number, kind):
    services = {"session_service": failing_sessions(stage, number)}
    if kind == "agent":
        root = stage.agent(
            "agent", [Say("Wait."), call("look")], "Done.", "Next.", tools=[look], output_key="said"
        )
    else:
        agents = [stage.agent("one", "A.", "B.", "C."), stage.agent("two", "D.", "E.", "F.")]
        root = stage.ns.SequentialAgent(name="seq", sub_agents=agents)
    await stage.open(root, services=services)
    await stage.say("go")
    await stage.say("next")


for _number in range(1, 5):
    for _kind in ("agent", "sequence"):
        add(
            Case(
                f"the session of {'an agent' if _kind == 'agent' else 'a sequence'}"
                f" fails at event {_number}",
                partial(_append, number=_number, kind=_kind),
            )
        )


@case()
async def the_session_cannot_be_read(stage):
    class Failing(stage.ns.InMemorySessionService):
        async def get_session(self, **where):
            if where["session_id"] == "s" and stage.runs:
                stage.runs[-1].setdefault("read", True)
                raise Boom("boom")
            return await super().get_session(**where)

    await stage.open(stage.agent("agent", "Never."), services={"session_service": Failing()})
    await stage.say()
    stage.runner.session_service.__class__ = stage.ns.InMemorySessionService


@case()
async def artifacts_cannot_be_saved(stage):
    class Failing(stage.ns.InMemoryArtifactService):
        async def save_artifact(self, **what):
            raise Boom("boom")

    services = {"artifact_service": Failing()}
    await stage.open(stage.agent("agent", call("save"), "Never.", tools=[save]), services=services)
    await stage.say()


async def _without(stage, service, tool):
    async def remember(tool_context) -> Any:
        """Remembers."""
        await tool_context.add_session_to_memory()

    async def search(tool_context) -> Any:
        """Searches."""
        return str(await tool_context.search_memory("x"))

    async def load(tool_context) -> Any:
        """Loads."""
        return str(await tool_context.load_artifact("f.txt"))

    async def names(tool_context) -> Any:
        """Lists."""
        return await tool_context.list_artifacts()

    tools = [save, remember, search, load, names]
    await stage.open(
        stage.agent("agent", call(tool), "Never.", tools=tools), services={service: None}
    )
    await stage.say()


for _service, _tools in (
    ("artifact_service", ("save", "load", "names")),
    ("memory_service", ("remember", "search")),
):
    for _tool in _tools:
        add(
            Case(
                f"a tool calls {_tool} without {_service}",
                partial(_without, service=_service, tool=_tool),
            )
        )


@case()
async def a_memory_that_cannot_be_searched_is_done_without(stage):
    class Failing(stage.ns.InMemoryMemoryService):
        async def search_memory(self, **what):
            raise Boom("boom")

    services = {"memory_service": Failing()}
    agent = stage.agent("agent", "Ok.", tools=[stage.ns.preload_memory_tool])
    await stage.open(agent, services=services)
    await stage.say()


@case()
async def a_memory_that_cannot_be_searched_fails_the_call(stage):
    class Failing(stage.ns.InMemoryMemoryService):
        async def search_memory(self, **what):
            raise Boom("boom")

    services = {"memory_service": Failing()}
    agent = stage.agent(
        "agent", call("load_memory", query="x"), "Never.", tools=[stage.ns.load_memory_tool]
    )
    await stage.open(agent, services=services)
    await stage.say()


@case()
async def sessions_are_made_on_demand(stage):
    await stage.open(stage.agent("agent", "One.", "Two."))
    stage.runner.auto_create_session = True
    await stage.say(session="new")
    await stage.say(session="new")


@case()
async def the_caller_leaves_after_the_first_event(stage):
    agent = stage.agent("agent", call("look"), "Done.", "Next.", tools=[look])
    await stage.open(agent)
    await stage.say(leave=1)
    await stage.say("next")


@case()
async def a_session_service_sorts_state_by_scope(stage):
    state = {"a": 1, "app:b": 2, "user:c": 3, "temp:d": 4, "other:e": 5, "user:": 6}
    stage.note(stage.ns.extract_state_delta(state), stage.ns.extract_state_delta({}))


async def _append_twice(stage, service):
    """Append one event twice, and note the error and the stored events."""
    where = {"app_name": "app", "user_id": "u"}
    session = await service.create_session(**where)
    event = stage.ns.Event(author="user", invocation_id="i", id="one")
    await service.append_event(session, event)
    try:
        await service.append_event(session, event)
    except Exception as error:  # noqa: BLE001  the type is compared
        stage.note(type(error).__name__)
    stored_session = await service.get_session(**where, session_id=session.id)
    stage.note([event.id for event in stored_session.events])


@case()
async def an_event_is_appended_twice_to_a_session_in_memory(stage):
    await _append_twice(stage, stage.ns.InMemorySessionService())


@case(differs=APPENDED_TWICE)
async def an_event_is_appended_twice_to_a_session_in_a_file(stage):
    with TemporaryDirectory() as folder:
        await _append_twice(stage, stage.ns.SqliteSessionService(str(Path(folder, "s.db"))))


@case(differs=AHEAD)
async def a_session_was_begun_where_the_clock_is_ahead(stage):
    with TemporaryDirectory() as folder:
        service = stage.ns.SqliteSessionService(str(Path(folder, "s.db")))
        agent = stage.agent("agent", "One.", "Two.")
        await stage.open(agent, services={"session_service": service})
        session = await service.get_session(app_name="app", user_id="u", session_id="s")
        event = stage.ns.event("user", "Earlier.", timestamp=session.last_update_time + 3600)
        await service.append_event(session, event)
        await stage.say("next")
        await stage.say("last")
        stage.runner = None  # the database is deleted with its folder


@case(differs=SYNC_URLS)
async def a_database_is_named_without_a_driver(stage):
    with TemporaryDirectory() as folder:
        try:
            service = stage.ns.DatabaseSessionService(f"sqlite:///{Path(folder, 's.db')}")
            session = await service.create_session(app_name="app", user_id="u")
        except ValueError as error:
            stage.note(type(error).__name__)
        else:
            stage.note(session.app_name)
            await service.close()


@case(differs=NAMELESS)
async def files_without_a_name_are_saved(stage):
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    with TemporaryDirectory() as folder:
        service = stage.ns.FileArtifactService(folder)
        for name in ("", " ", ".", "user:"):
            try:
                await service.save_artifact(**where, filename=name, artifact=types.Part(text="t"))
            except ValueError as error:
                stage.note(name, type(error).__name__)
        stage.note(await service.list_artifact_keys(**where))


@case()
async def an_event_is_changed_after_it_was_yielded(stage):
    await stage.open(stage.agent("agent", "Hello."))
    [event] = await stage.say()
    event.content.parts[0].text = "Changed."


@case(differs=SHARED)
async def an_event_is_changed_that_was_read(stage):
    await stage.open(stage.agent("agent", "Hello."))
    await stage.say()
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    session = await stage.runner.session_service.get_session(**where)
    session.events[-1].content.parts[0].text = "Changed."
    session.events.clear()
    session.state["new"] = 1
