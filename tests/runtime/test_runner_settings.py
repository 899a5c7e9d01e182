"""Errors for mistakes in the arguments of a Runner and the services."""

import sqlite3
from decimal import Decimal

import pytest
from google.genai import types

from devui.runtime.agents import Context, LlmAgent
from devui.runtime.apps import App
from devui.runtime.artifacts import FileArtifactService, InMemoryArtifactService
from devui.runtime.errors import (
    AlreadyExistsError,
    InputValidationError,
    InvocationNotFoundError,
)
from devui.runtime.events import Event
from devui.runtime.runners import Runner
from devui.runtime.sessions import InMemorySessionService, SqliteSessionService
from devui.runtime.tools.openapi_tool import OpenAPIToolset
from tests.kit.stages import Scripted, run, runner_of, said, texts

AGENT = Scripted(name="a")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"agent": "a"}, "`agent` is 'a' (str); pass an agent or a Workflow."),
        ({"node": "a"}, "`agent` is 'a' (str); pass an agent or a Workflow."),
        ({"agent": LlmAgent}, "`agent` is the class LlmAgent; pass an agent or a Workflow."),
        (
            {"agent": App(name="app", root_agent=AGENT)},
            "`agent` is the App 'app'; pass it as app=...",
        ),
        ({"app": "x"}, "`app` is 'x' (str); pass an App(name=..., root_agent=...)."),
        (
            {"agent": AGENT, "session_service": InMemorySessionService},
            "`session_service` is the class InMemorySessionService; pass an instance of a service.",
        ),
        (
            {"agent": AGENT, "memory_service": "memory"},
            "`memory_service` is 'memory' (str); pass an instance of a service.",
        ),
    ],
)
def test_a_runner_reports_wrong_arguments_with_what_it_accepts(arguments, message):
    with pytest.raises(TypeError) as error:
        Runner(**{"app_name": "app", "session_service": InMemorySessionService(), **arguments})
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"run_config": {"max_llm_calls": 1}}, r"`run_config` is .* \(dict\); pass a RunConfig"),
        ({"state_delta": "city"}, r"`state_delta` is 'city' \(str\); pass a dict, such as"),
    ],
)
async def test_a_run_reports_wrong_arguments_with_what_it_accepts(arguments, message):
    with pytest.raises(TypeError, match=message):
        await run(runner_of(Scripted(name="a")), **arguments)


@pytest.mark.parametrize("value", [1, None, Decimal(0)])
def test_auto_create_session_accepts_any_truthy_or_falsy_value(value):
    runner = Runner(
        app_name="app",
        agent=AGENT,
        session_service=InMemorySessionService(),
        auto_create_session=value,
    )
    assert runner.auto_create_session is bool(value)


async def test_run_debug_accepts_messages_from_any_iterable():
    said_by_generator = await runner_of(AGENT).run_debug((text for text in "ab"), quiet=True)
    assert len(said_by_generator) == 2


def test_a_custom_app_class_may_have_an_agent_field():
    class Mine(App):
        agent: str = ""

    assert Mine(name="app", root_agent=AGENT, agent="x").agent == "x"


class Latest(InMemoryArtifactService):
    """An artifact service that accepts versions that google-adk's don't."""

    async def load_artifact(self, *, version, **where) -> types.Part | None:
        return types.Part(text=f"{version} of {where['filename']}")


async def test_a_custom_service_gets_the_agents_arguments_unchanged():
    async def body(ctx):
        part = await Context(ctx).load_artifact("a", version="latest")
        yield Event(author="a", message=part.text)

    runner = runner_of(Scripted(name="a", body=body))
    runner.artifact_service = Latest()
    assert texts(await run(runner)) == ["latest of a"]


async def test_a_session_instead_of_its_id_is_refused_with_advice():
    runner = runner_of(Scripted(name="a"))
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    with pytest.raises(TypeError, match=r"`session_id` is .* \(Session\); pass the `id` of a"):
        await anext(runner.run_async(user_id="u", session_id=session, new_message=said("go")))


async def test_an_unknown_invocation_is_refused_with_advice():
    with pytest.raises(
        InvocationNotFoundError, match="or start a new one by passing a new_message"
    ):
        await run(runner_of(Scripted(name="a")), None, invocation_id="e-1")


@pytest.mark.parametrize("kind", [InMemorySessionService, SqliteSessionService])
async def test_a_state_that_is_not_a_dict_is_refused_with_advice(kind, tmp_path):
    service = kind(*([tmp_path / "sessions.db"] if kind is SqliteSessionService else []))
    with pytest.raises(TypeError, match=r"`state` is 'city' \(str\); pass a dict, such as"):
        await service.create_session(app_name="app", user_id="u", state="city")


@pytest.mark.parametrize("kind", [InMemorySessionService, SqliteSessionService])
async def test_a_session_id_that_is_taken_is_refused_with_advice(kind, tmp_path):
    service = kind(*([tmp_path / "sessions.db"] if kind is SqliteSessionService else []))
    session = {"app_name": "app", "user_id": "u", "session_id": "s"}
    await service.create_session(**session)
    with pytest.raises(AlreadyExistsError, match=r"'s' already exists\. Read it with get_session"):
        await service.create_session(**session)


async def test_the_error_for_a_file_that_cannot_be_opened_names_it(tmp_path):
    service = SqliteSessionService(tmp_path / "missing" / "sessions.db")
    with pytest.raises(sqlite3.OperationalError) as error:
        await service.create_session(app_name="app", user_id="u")
    assert error.value.__notes__ == [
        "Create its folder first, and make it writable.",
        f"Database file: {tmp_path}/missing/sessions.db.",
    ]


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_the_error_for_an_unreadable_spec_names_its_type(kind):
    with pytest.raises(ValueError, match=r".") as error:
        OpenAPIToolset(spec_str='{"openapi": [', spec_str_type=kind)
    assert f"parsed as {kind}; set spec_str_type" in error.value.__notes__[0]


@pytest.mark.parametrize("kind", [InMemoryArtifactService, FileArtifactService])
@pytest.mark.parametrize("artifact", ["text", b"data", said("content")])
async def test_an_artifact_that_is_not_a_part_is_refused_with_advice(kind, artifact, tmp_path):
    service = kind(*([tmp_path] if kind is FileArtifactService else []))
    with pytest.raises(InputValidationError, match=r"`artifact` is .*; pass a types.Part, such as"):
        await service.save_artifact(
            app_name="app", user_id="u", session_id="s", filename="f", artifact=artifact
        )
