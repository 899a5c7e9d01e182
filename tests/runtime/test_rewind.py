"""Sessions rewound to before an invocation (adk-runtime 3.6)."""

import pytest
from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.errors import InvocationNotFoundError, SessionNotFoundError
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import ToolContext
from tests.kit.stages import WHERE, run, runner_of, stored


async def write(text: str, tool_context: ToolContext) -> str:
    """Write the text everywhere."""
    for key in ("note", "user:note", "app:note", f"only_{text}"):
        tool_context.state[key] = text
    part = types.Part(inline_data=types.Blob(data=text.encode(), mime_type="text/plain"))
    await tool_context.save_artifact("note.txt", part)
    await tool_context.save_artifact(f"{text}.txt", part)
    await tool_context.save_artifact("user:note.txt", part)
    return "written"


def writer() -> Agent:
    rules = [
        Rule(after="write", then=Say("done {user}")),
        Rule(then=Call("write", text="{user}")),
    ]
    return Agent(name="writer", model=ScriptedLlm(rules=rules), tools=[write])


async def file(runner, name: str) -> bytes | None:
    part = await runner.artifact_service.load_artifact(
        app_name="app", **WHERE, filename=name, version=None
    )
    return part and part.inline_data.data


async def after(*texts: str):
    """Return a runner whose session has a turn for each text, and the invocations of the turns."""
    runner = runner_of(writer())
    await runner.session_service.create_session(
        app_name="app", **WHERE, state={"given": 1, "user:name": "ada"}
    )
    invocations = [(await run(runner, text))[0].invocation_id for text in texts]
    return runner, invocations


async def test_state_and_files_are_restored_and_other_scopes_left_alone():
    runner, (_, second, _) = await after("one", "two", "three")
    await runner.rewind_async(**WHERE, rewind_before_invocation_id=second)
    session = await stored(runner)
    state = {key: value for key, value in session.state.items() if value is not None}
    assert state == {
        "note": "one",
        "only_one": "one",
        "given": 1,
        "user:note": "three",
        "user:name": "ada",
        "app:note": "three",
    }
    assert await file(runner, "note.txt") == b"one"
    assert await file(runner, "one.txt") == b"one"
    assert await file(runner, "two.txt") is None
    assert await file(runner, "user:note.txt") == b"three"
    assert session.events[-1].author == "user"
    assert session.events[-1].actions.artifact_delta == {
        "note.txt": 3,
        "two.txt": 1,
        "three.txt": 1,
    }


async def test_the_initial_state_of_a_session_is_restored():
    runner = runner_of(writer())
    initial_state = {"note": {"of": ["the", "user"]}, "given": 1, "user:note": "mine"}
    await runner.session_service.create_session(app_name="app", **WHERE, state=initial_state)
    first = (await run(runner, "one"))[0].invocation_id
    await runner.rewind_async(**WHERE, rewind_before_invocation_id=first)
    state = (await stored(runner)).state
    own = {key: value for key, value in state.items() if ":" not in key and value is not None}
    assert own == {"note": {"of": ["the", "user"]}, "given": 1}
    assert state["user:note"] == "one"


async def test_the_history_stays_but_the_model_does_not_see_rewound_events():
    runner, (_, second) = await after("one", "two")
    count = len((await stored(runner)).events)
    await runner.rewind_async(**WHERE, rewind_before_invocation_id=second)
    await run(runner, "four")
    assert len((await stored(runner)).events) == count + 1 + 4
    request = runner.agent.model.requests[-1]
    prompt = [part.text for content in request.contents for part in content.parts if part.text]
    assert prompt == ["one", "done one", "four"]


async def test_a_session_can_be_rewound_twice():
    runner, (first, second) = await after("one", "two")
    await runner.rewind_async(**WHERE, rewind_before_invocation_id=second)
    await runner.rewind_async(**WHERE, rewind_before_invocation_id=first)
    state = (await stored(runner)).state
    assert state["note"] is None or "note" not in state
    assert state["given"] == 1
    assert await file(runner, "note.txt") is None


async def test_a_rewound_invocation_cannot_be_resumed():
    runner, (first,) = await after("one")
    await runner.rewind_async(**WHERE, rewind_before_invocation_id=first)
    with pytest.raises(InvocationNotFoundError):
        await run(runner, None, invocation_id=first)


async def test_an_unknown_invocation_or_session_cannot_be_rewound():
    runner, _ = await after("one")
    with pytest.raises(InvocationNotFoundError, match="no invocation 'e-0'"):
        await runner.rewind_async(**WHERE, rewind_before_invocation_id="e-0")
    runner.auto_create_session = False
    with pytest.raises(SessionNotFoundError):
        await runner.rewind_async(
            user_id="u", session_id="other", rewind_before_invocation_id="e-0"
        )
