"""Mistakes in what a Runner and the services are given, and what their author is told."""

import sqlite3

import pytest

from devui.runtime.agents import LlmAgent
from devui.runtime.apps import App
from devui.runtime.artifacts import FileArtifactService, InMemoryArtifactService
from devui.runtime.errors import (
    AlreadyExistsError,
    InputValidationError,
    InvocationNotFoundError,
)
from devui.runtime.runners import Runner
from devui.runtime.sessions import InMemorySessionService, SqliteSessionService
from devui.runtime.tools.openapi_tool import OpenAPIToolset
from tests.kit.stages import Scripted, run, runner_of, said

AGENT = Scripted(name="a")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"agent": "a"}, "`agent` is 'a' (str); give an agent or a Workflow."),
        ({"node": "a"}, "`agent` is 'a' (str); give an agent or a Workflow."),
        ({"agent": LlmAgent}, "`agent` is the class LlmAgent; give an agent or a Workflow."),
        (
            {"agent": App(name="app", root_agent=AGENT)},
            "`agent` is the App 'app'; give it as app=...",
        ),
        ({"app": "x"}, "`app` is 'x' (str); give an App(name=..., root_agent=...)."),
        (
            {"agent": AGENT, "session_service": InMemorySessionService},
            "`session_service` is the class InMemorySessionService; give an instance of a service.",
        ),
        (
            {"agent": AGENT, "memory_service": "memory"},
            "`memory_service` is 'memory' (str); give an instance of a service.",
        ),
    ],
)
def test_a_runner_says_what_it_was_given_and_what_it_takes(given, told):
    with pytest.raises(TypeError) as caught:
        Runner(**{"app_name": "app", "session_service": InMemorySessionService(), **given})
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"run_config": {"max_llm_calls": 1}}, r"`run_config` is .* \(dict\); give a RunConfig"),
        ({"state_delta": "city"}, r"`state_delta` is 'city' \(str\); give a dict, such as"),
    ],
)
async def test_a_run_says_what_it_was_given_and_what_it_takes(given, told):
    with pytest.raises(TypeError, match=told):
        await run(runner_of(Scripted(name="a")), **given)


async def test_a_session_is_no_session_id():
    runner = runner_of(Scripted(name="a"))
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    with pytest.raises(TypeError, match=r"`session_id` is .* \(Session\); give the `id` of a"):
        await anext(runner.run_async(user_id="u", session_id=session, new_message=said("go")))


async def test_an_invocation_that_does_not_exist_is_told_with_what_to_do():
    with pytest.raises(InvocationNotFoundError, match="or begin a new one with a new_message"):
        await run(runner_of(Scripted(name="a")), None, invocation_id="e-1")


@pytest.mark.parametrize("kind", [InMemorySessionService, SqliteSessionService])
async def test_a_session_begins_with_a_dict(kind, tmp_path):
    service = kind(*([tmp_path / "sessions.db"] if kind is SqliteSessionService else []))
    with pytest.raises(TypeError, match=r"`state` is 'city' \(str\); give a dict, such as"):
        await service.create_session(app_name="app", user_id="u", state="city")


@pytest.mark.parametrize("kind", [InMemorySessionService, SqliteSessionService])
async def test_a_session_whose_id_is_taken_is_told_with_what_to_do(kind, tmp_path):
    service = kind(*([tmp_path / "sessions.db"] if kind is SqliteSessionService else []))
    session = {"app_name": "app", "user_id": "u", "session_id": "s"}
    await service.create_session(**session)
    with pytest.raises(AlreadyExistsError, match=r"'s' exists already\. Read it with get_session"):
        await service.create_session(**session)


async def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    service = SqliteSessionService(tmp_path / "missing" / "sessions.db")
    with pytest.raises(sqlite3.OperationalError) as caught:
        await service.create_session(app_name="app", user_id="u")
    assert caught.value.__notes__ == [
        "Make its folder first, and writable.",
        f"The file is {tmp_path}/missing/sessions.db.",
    ]


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_a_description_that_cannot_be_read_is_named(kind):
    with pytest.raises(ValueError, match=r".") as caught:
        OpenAPIToolset(spec_str='{"openapi": [', spec_str_type=kind)
    assert f"read as {kind}; spec_str_type tells its kind" in caught.value.__notes__[0]


@pytest.mark.parametrize("kind", [InMemoryArtifactService, FileArtifactService])
@pytest.mark.parametrize("given", ["text", b"data", said("content")])
async def test_an_artifact_is_a_part(kind, given, tmp_path):
    service = kind(*([tmp_path] if kind is FileArtifactService else []))
    with pytest.raises(InputValidationError, match=r"`artifact` is .*; give a types.Part, such as"):
        await service.save_artifact(
            app_name="app", user_id="u", session_id="s", filename="f", artifact=given
        )
