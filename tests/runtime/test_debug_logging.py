"""`DebugLoggingPlugin`: a log file of everything that happens in a run."""

import asyncio
import stat

import pytest
import yaml
from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent, RunConfig
from devui.runtime.auth import AuthCredential, AuthCredentialTypes, OAuth2Auth
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.plugins import DebugLoggingPlugin
from tests.kit.conversation import STREAMED, Conversation


def agent(*rules, **fields):
    model = ScriptedLlm(rules=rules or [Rule(then=Say("Yes."))])
    return LlmAgent(name="agent", model=model, instruction="Be brief.", **fields)


def look(city: str, tool_context) -> dict[str, str]:
    """Look."""
    tool_context.state["city"] = city
    return {"sky": "rain"}


LOOKS = (Rule(after="look", then=Say("Rain.")), Rule(then=Call("look", city="Rome")))


def documents(path):
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def entries(document, kind):
    return [entry["data"] for entry in document["entries"] if entry["entry_type"] == kind]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "debug.yaml"


async def test_a_run_is_one_document_with_everything_that_happened(path):
    conversation = Conversation(
        agent(*LOOKS, tools=[look]), plugins=[DebugLoggingPlugin(output_path=str(path))]
    )

    events = await conversation.say("Weather?")

    [document] = documents(path)
    assert document["invocation_id"] == events[0].invocation_id
    assert [document[key] for key in ("app_name", "user_id", "session_id")] == ["app", "user", "s"]
    assert [entry["entry_type"] for entry in document["entries"]] == [
        "user_message",
        "invocation_start",
        "agent_start",
        "llm_request",
        "llm_response",
        "event",
        "tool_call",
        "tool_response",
        "event",
        "llm_request",
        "llm_response",
        "event",
        "agent_end",
        "session_state_snapshot",
        "invocation_end",
    ]
    [request, _] = entries(document, "llm_request")
    assert request["contents"] == [{"role": "user", "parts": [{"text": "Weather?"}]}]
    assert request["tools"] == ["look"]
    assert "Be brief." in request["config"]["system_instruction"]
    [call] = entries(document, "tool_call")
    assert (call["tool_name"], call["args"]) == ("look", {"city": "Rome"})
    assert entries(document, "tool_response")[0]["result"] == {"sky": "rain"}
    assert entries(document, "event")[1]["actions"] == {"state_delta": {"city": "Rome"}}
    [snapshot] = entries(document, "session_state_snapshot")
    assert snapshot == {"state": {"city": "Rome"}, "event_count": 4}


async def test_each_run_is_appended(path):
    conversation = Conversation(agent(), plugins=[DebugLoggingPlugin(output_path=str(path))])

    await conversation.say("One")
    await conversation.say("Two", STREAMED)

    messages = [entries(each, "user_message")[0]["content"]["parts"] for each in documents(path)]
    assert messages == [[{"text": "One"}], [{"text": "Two"}]]


def broken() -> None:
    """Fail."""
    raise OSError("disk full")


async def test_a_failed_run_is_written_too(path):
    root = agent(Rule(then=Call("broken")), tools=[broken])

    with pytest.raises(OSError, match="disk full"):
        await Conversation(root, plugins=[DebugLoggingPlugin(output_path=str(path))]).say("go")

    [document] = documents(path)
    [error] = entries(document, "tool_error")
    assert (error["tool_name"], error["error_type"]) == ("broken", "OSError")
    [end] = entries(document, "invocation_error")
    assert end == {"error_type": "OSError", "error_message": "disk full"}


async def test_an_abandoned_run_is_written_when_the_runner_closes(path):
    conversation = Conversation(agent(), plugins=[DebugLoggingPlugin(output_path=str(path))])
    await conversation._open()
    events = conversation.runner.run_async(
        user_id="user", session_id="s", new_message=types.UserContent("go")
    )
    await anext(events)
    await events.aclose()

    await conversation.runner.close()

    [document] = documents(path)
    assert entries(document, "llm_response")


async def test_the_oldest_of_more_than_100_cancelled_runs_are_written_at_once(path):
    class Hanging(BaseAgent):
        async def _run_async_impl(self, ctx):
            running.set()
            await asyncio.Event().wait()
            yield

    running = asyncio.Event()
    conversation = Conversation(
        Hanging(name="agent"), plugins=[DebugLoggingPlugin(output_path=str(path))]
    )
    for number in range(103):
        turn = asyncio.create_task(conversation.say(f"Turn {number}"))
        await running.wait()
        running.clear()
        turn.cancel()
        await asyncio.wait([turn])

    messages = [entries(document, "user_message")[0]["content"] for document in documents(path)]
    assert [content["parts"][0]["text"] for content in messages] == ["Turn 0", "Turn 1", "Turn 2"]


async def test_state_and_instruction_can_be_excluded(path):
    plugin = DebugLoggingPlugin(
        output_path=str(path), include_session_state=False, include_system_instruction=False
    )
    await Conversation(agent(), plugins=[plugin]).say("go")

    [document] = documents(path)
    assert not entries(document, "session_state_snapshot")
    config = entries(document, "llm_request")[0]["config"]
    assert "system_instruction" not in config
    assert config["system_instruction_length"] >= len("Be brief.")


KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "api_key": "sk-1",
    "user:openaiApiKey": "sk-2",
    "X-Api-Key": "sk-3",
    "bearer_token": "sk-4",
    "temp:anything": "sk-5",
    "login": {"client_secret": "sk-6", "name": "kept"},
    "note": f"before {KEY} after",
}


async def test_secrets_are_not_written(path):
    def store(tool_context) -> str:
        """Store."""
        for key, value in SECRETS.items():
            tool_context.state[key] = value
        tool_context.state["prompt_token_count"] = 7
        return "ok"

    rules = [Rule(after="store", then=Say("Done.")), Rule(then=Call("store", password="sk-7"))]
    await Conversation(
        agent(*rules, tools=[store]), plugins=[DebugLoggingPlugin(output_path=str(path))]
    ).say("go")

    text = path.read_text(encoding="utf-8")
    assert "sk-" not in text
    assert "MIIabc" not in text
    [snapshot] = entries(documents(path)[0], "session_state_snapshot")
    assert snapshot["state"]["login"] == {"client_secret": "[REDACTED]", "name": "kept"}
    assert snapshot["state"]["note"] == "before [REDACTED] after"
    assert snapshot["state"]["prompt_token_count"] == 7


async def test_a_credential_is_not_written_under_any_name(path):
    credential = AuthCredential(
        auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(access_token="sk-8")
    )

    async def note(tool_context) -> str:
        """Note."""
        tool_context.actions.state_delta["thing"] = {"inner": credential}
        return "ok"

    rules = [Rule(after="note", then=Say("Done.")), Rule(then=Call("note"))]
    await Conversation(
        agent(*rules, tools=[note]), plugins=[DebugLoggingPlugin(output_path=str(path))]
    ).say("go")

    assert "sk-8" not in path.read_text(encoding="utf-8")


async def test_a_document_with_bytes_and_unusual_characters_is_valid_yaml(path):
    odd = "tab\t line\x85next\u2028sep \U0001f600 \x7f \ud800 end: - #"
    parts = [types.Part(text=odd), types.Part.from_bytes(data=b"\0\1\2", mime_type="image/png")]
    plugin = DebugLoggingPlugin(output_path=str(path))
    conversation = Conversation(agent(), plugins=[plugin])

    await conversation.say(types.Content(role="user", parts=parts), RunConfig())

    [document] = documents(path)
    [message] = entries(document, "user_message")
    assert message["content"]["parts"] == [
        {"text": odd.replace("\ud800", "\ufffd")},
        {"inline_data": {"mime_type": "image/png", "_data_omitted": True}},
    ]


async def test_only_its_owner_can_read_the_file(path):
    await Conversation(agent(), plugins=[DebugLoggingPlugin(output_path=str(path))]).say("go")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_run_continues_if_the_file_cannot_be_written(tmp_path, caplog):
    plugin = DebugLoggingPlugin(output_path=str(tmp_path / "missing" / "debug.yaml"))

    events = await Conversation(agent(), plugins=[plugin]).say("go")

    assert events[-1].content.parts[0].text == "Yes."
    assert "debug.yaml cannot be written" in caplog.text
