"""Contexts: what callbacks and tools can do (adk-runtime 4)."""

import sys

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, Context, InvocationContext, LlmAgent, RunConfig
from devui.runtime.agents.callback_context import CallbackContext
from devui.runtime.agents.context import ReadonlyContext
from devui.runtime.agents.invocation_context import LlmCallsLimitExceededError
from devui.runtime.agents.invocation_events import events_of
from devui.runtime.agents.run_config import StreamingMode
from devui.runtime.artifacts import InMemoryArtifactService
from devui.runtime.auth import AuthConfig, AuthCredential, AuthCredentialTypes
from devui.runtime.events import Event, EventActions
from devui.runtime.events.event_actions import UiWidget
from devui.runtime.memory import InMemoryMemoryService
from devui.runtime.models import Rule, Say, ScriptedLlm
from devui.runtime.sessions import InMemorySessionService, Session
from devui.runtime.tools.tool_context import ToolContext
from tests.kit.conversation import Conversation


def invocation(**kwargs) -> InvocationContext:
    session = Session(id="s", app_name="app", user_id="u", state={"a": 1})
    return InvocationContext(
        session_service=InMemorySessionService(), session=session, invocation_id="e-1", **kwargs
    )


def test_the_three_contexts_are_one_class():
    assert Context is CallbackContext is ToolContext


def test_a_context_shows_the_invocation():
    content = types.Content(role="user", parts=[types.Part(text="hi")])
    config = RunConfig(custom_metadata={"label": 1})
    ctx = invocation(
        agent=BaseAgent(name="agent"), user_content=content, run_config=config, branch="b"
    )
    context = Context(ctx)
    assert (context.invocation_id, context.agent_name, context.user_id) == ("e-1", "agent", "u")
    assert context.session is ctx.session
    assert (context.user_content, context.run_config, context.branch) == (content, config, "b")
    assert context.get_invocation_context() is ctx
    context.custom_metadata["more"] = 2
    assert ReadonlyContext(ctx).custom_metadata == {"label": 1, "more": 2}
    assert ReadonlyContext(invocation()).agent_name == "unknown"


def test_a_readonly_context_cannot_write():
    context = ReadonlyContext(invocation())
    assert context.state["a"] == 1
    with pytest.raises(TypeError):
        context.state["a"] = 2


def test_writes_go_to_the_actions_and_are_visible_to_other_contexts():
    ctx, actions = invocation(), EventActions()
    Context(ctx, event_actions=actions).state["b"] = 2
    assert actions.state_delta == {"b": 2}
    assert Context(ctx).state["b"] == 2
    assert Context(ctx).actions.state_delta == {}


async def test_artifacts_are_saved_and_recorded_in_the_delta():
    context = Context(invocation(artifact_service=InMemoryArtifactService()))
    part = types.Part(text="content")
    assert await context.save_artifact("a.txt", part, custom_metadata={"k": 1}) == 0
    assert await context.save_artifact("a.txt", part) == 1
    assert context.actions.artifact_delta == {"a.txt": 1}
    assert await context.load_artifact("a.txt", version=0) == part
    assert await context.list_artifacts() == ["a.txt"]
    version = await context.get_artifact_version("a.txt", 0)
    assert version.custom_metadata == {"k": 1}


async def test_a_context_gives_access_to_the_memory():
    ctx = invocation(memory_service=InMemoryMemoryService())
    ctx.session.events.append(Event(author="user", message="I like chess", id="1"))
    context = Context(ctx)
    await context.add_session_to_memory()
    assert [m.id for m in (await context.search_memory("chess")).memories] == ["1"]
    await context.add_events_to_memory(events=[Event(message="chess again", id="2")])
    assert len((await context.search_memory("chess")).memories) == 2
    await context.delete_memory("1")
    assert len((await context.search_memory("chess")).memories) == 1
    with pytest.raises(NotImplementedError, match="InMemoryMemoryService"):
        await context.add_memory(memories=[])


async def test_a_missing_service_is_named():
    context = Context(invocation())
    with pytest.raises(ValueError, match="artifact_service"):
        await context.list_artifacts()
    with pytest.raises(ValueError, match="memory_service"):
        await context.search_memory("x")
    with pytest.raises(ValueError, match="credential_service"):
        await context.load_credential(auth_config())


def auth_config() -> AuthConfig:
    return AuthConfig(auth_scheme={"type": "apiKey", "in": "header", "name": "X-Key"})


def test_requests_to_the_user_need_a_tool_call():
    context = Context(invocation(), function_call_id="c1")
    context.request_confirmation(hint="sure?", payload={"n": 1})
    context.request_credential(auth_config())
    assert context.actions.requested_tool_confirmations["c1"].hint == "sure?"
    assert context.actions.requested_auth_configs["c1"].credential_key.startswith("adk_apiKey_")
    outside = Context(invocation())
    for request in (
        outside.request_confirmation,
        lambda: outside.request_credential(auth_config()),
    ):
        with pytest.raises(ValueError, match="in a tool"):
            request()


def test_an_answered_credential_is_found_in_temp_state():
    context, config = Context(invocation()), auth_config()
    assert context.get_auth_response(config) is None
    credential = AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="k-1")
    context.state[f"temp:{config.credential_key}"] = credential
    assert context.get_auth_response(config) == credential


def test_ui_widgets_are_unique_within_an_event():
    context = Context(invocation())
    context.render_ui_widget(UiWidget(id="1", provider="mcp"))
    with pytest.raises(ValueError, match="'1'"):
        context.render_ui_widget(UiWidget(id="1", provider="mcp"))


def test_copies_of_an_invocation_share_progress_but_not_plain_values():
    ctx = invocation()
    copy = ctx.model_copy(update={"branch": "b"})
    copy.end_invocation = True
    copy.agent_states["a"] = {}
    copy.abort()
    assert (ctx.branch, ctx.end_invocation) == (None, False)
    assert ctx.agent_states == {"a": {}}
    assert ctx.is_aborted
    assert copy.session is ctx.session
    with pytest.raises(TypeError, match="'nonsense'"):
        ctx.model_copy(update={"nonsense": 1})


def test_model_calls_are_counted_across_all_copies():
    ctx = invocation(run_config=RunConfig(max_llm_calls=2))
    ctx.increment_llm_call_count()
    ctx.model_copy().increment_llm_call_count()
    assert ctx.model_copy()._invocation_cost_manager._number_of_llm_calls == 2
    with pytest.raises(LlmCallsLimitExceededError, match="more than 2"):
        ctx.increment_llm_call_count()


def test_run_config_has_defaults_and_limits(monkeypatch, caplog):
    assert RunConfig().max_llm_calls == 500
    assert RunConfig().streaming_mode is StreamingMode.NONE
    monkeypatch.setenv("ADK_MAX_LLM_CALLS", "7")
    assert RunConfig().max_llm_calls == 7
    unlimited = invocation(run_config=RunConfig(max_llm_calls=0))
    for _ in range(1000):
        unlimited.increment_llm_call_count()
    assert "not limited" in caplog.text
    for wrong in (
        {"max_llm_calls": sys.maxsize},
        {"service_tier": "deferred", "streaming_mode": StreamingMode.SSE},
        {"nonsense": 1},
    ):
        with pytest.raises(ValueError):
            RunConfig(**wrong)


def test_only_calls_that_are_answered_later_pause_the_invocation():
    def calling(name: str, **kwargs) -> Event:
        part = types.Part(function_call=types.FunctionCall(id="c1", name=name, args={}))
        return Event(content=types.Content(parts=[part]), **kwargs)

    ctx = invocation()
    assert ctx.should_pause_invocation(calling("f", long_running_tool_ids={"c1"}))
    assert ctx.should_pause_invocation(calling("adk_request_input"))
    assert not ctx.should_pause_invocation(calling("f", long_running_tool_ids=set()))
    assert not ctx.should_pause_invocation(Event(long_running_tool_ids={"c1"}))


def test_events_are_filtered_by_invocation_and_branch():
    def on(branch: str | None, author: str = "agent", part: types.Part | None = None) -> Event:
        content = types.Content(parts=[part]) if part else None
        return Event(branch=branch, author=author, content=content, invocation_id=f"e-{branch}")

    call = types.Part(function_call=types.FunctionCall(id="c1", name="f", args={}))
    answer = types.Part(function_response=types.FunctionResponse(id="c1", name="f", response={}))
    history = [
        on(None),
        on("a"),
        on("a.b"),
        on("ab"),
        on(None, "user"),
        on("a.b", "user"),
        on("ab", "user"),
        on("a", part=call),
        on(None, "user", answer),
        on("ab", "user", answer),
    ]
    assert events_of(history) == history
    assert events_of(history, invocation_id="e-a.b") == [history[2], history[5]]
    assert events_of(history, branch="a") == [history[i] for i in (1, 4, 5, 7, 8)]
    assert events_of(history, branch="ab") == [history[i] for i in (3, 4, 6)]


def test_dir_of_the_class_lists_the_attributes_of_its_objects():
    assert {"function_call_id", "tool_confirmation", "state", "actions"} <= set(dir(ToolContext))


async def test_an_unused_output_causes_a_warning(caplog):
    def assign(callback_context):
        callback_context.output = {"said": "Left."}

    root = LlmAgent(
        name="agent", model=ScriptedLlm(rules=[Rule(then=Say("Yes."))]), after_agent_callback=assign
    )
    events = await Conversation(root).say("go")

    assert events[-1].content.parts[0].text == "Yes."
    assert "it is for workflow nodes" in caplog.text
