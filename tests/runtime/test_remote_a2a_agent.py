"""Agents on other servers, against a real A2A server (adk-runtime 14).

Their answers are compared with google-adk in tests/differential/cases/remote_agents.py.
"""

import asyncio
import json
import socket
import subprocess
import sys
from contextlib import aclosing
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from devui.runtime.agents import LlmAgent, SequentialAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models import Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from tests.source import ROOT

pytest.importorskip("a2a")
from a2a.client import ClientConfig, ClientFactory
from a2a.types import AgentCard

from devui.runtime.a2a.sending import from_a2a, to_a2a
from devui.runtime.agents.remote_a2a_agent import (
    AGENT_CARD_WELL_KNOWN_PATH,
    RemoteA2aAgent,
)
from tests.kit import a2a


def helper(card: object, **how) -> RemoteA2aAgent:
    return RemoteA2aAgent("helper", card, **how)


async def run_agent(agent: RemoteA2aAgent, *says: str) -> list:
    return await InMemoryRunner(agent=agent).run_debug(list(says), quiet=True)


def card(streaming: bool = True) -> AgentCard:
    way = f"{a2a.address()}/{'stream' if streaming else 'plain'}"
    agent_card = AgentCard(name="helper", description="Helps.", version="1")
    agent_card.supported_interfaces.add(url=way, protocol_binding="JSONRPC", protocol_version="1.0")
    agent_card.capabilities.streaming = streaming
    return agent_card


def text(event) -> str:
    return "".join(part.text or "" for part in event.content.parts) if event.content else ""


# The card


async def test_a_card_is_an_object_a_url_or_a_file(tmp_path):
    file = tmp_path / "card.json"
    async with httpx.AsyncClient() as client:
        file.write_text((await client.get(a2a.card_of("plain"))).text)
    agents = [helper(card()), helper(a2a.card_of("plain")), helper(str(file))]
    descriptions = [await agent.described_for_models() for agent in agents]
    assert descriptions[0] == "Helps."
    assert "Does what it is told." in descriptions[1]
    assert descriptions[1].startswith("<<<BEGIN_QUOTED_AGENT_CONTENT>>>")
    assert descriptions[2] == "Does what it is told."
    for agent in agents:
        [event] = await run_agent(agent, "greet")
        assert text(event) == "Hello."


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{server}/broken{path}", "no valid agent card"),
        ("{server}/nowhere.json", "HTTP 404"),
        ("{server}", "AGENT_CARD_WELL_KNOWN_PATH"),
        ("{server}/secret{path}", "Pass credentials"),
        ("{server}/other{path}", "save the card in a file"),
        ("http://127.0.0.1:{closed}/card.json", "Is the server running?"),
        ("http://agents.example/card.json", "use https://"),
        ("http://[::1/card.json", "is not a valid URL"),
        ("{folder}/missing.json", "There is no agent card file"),
        ("{folder}/text.json", "is not a valid agent card"),
        ("{folder}/empty.json", "supportedInterfaces"),
        ("{folder}", "cannot be read"),
        ("{folder}/other.json", "a2a_client_factory"),
    ],
)
async def test_an_unusable_card_is_an_error_with_advice(source, message, tmp_path, caplog):
    (tmp_path / "text.json").write_text("no card")
    (tmp_path / "empty.json").write_text('{"name": "helper"}')
    way = {"url": "https://other.example", "protocolBinding": "PIGEON"}
    (tmp_path / "other.json").write_text(json.dumps({"supportedInterfaces": [way]}))
    given_as = source.format(
        server=a2a.address(), path=a2a.CARD, closed=closed_port(), folder=tmp_path
    )
    agent = helper(given_as)
    [event] = await run_agent(agent, "greet")
    assert (event.error_code, event.is_final_response()) == ("A2A_NO_CARD", True)
    assert message in event.error_message
    assert event.custom_metadata["a2a:request"]["parts"][0]["text"] == "greet"
    if "PIGEON" not in event.error_message:
        assert await agent.described_for_models() == ""
        assert "no description of agent" in caplog.text


@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ({"agent_card": None}, TypeError, "None"),
        ({"agent_card": 7}, TypeError, "7 (int)"),
        ({"agent_card": " "}, ValueError, AGENT_CARD_WELL_KNOWN_PATH),
        ({"agent_card": "card.json", "mode": "task"}, ValueError, "no `mode`"),
        ({"agent_card": "card.json", "auth_scheme": None}, ValueError, "httpx_client"),
        ({"agent_card": "card.json", "timout": 3}, ValueError, "timout"),
    ],
)
def test_invalid_arguments_are_refused(how, kind, message):
    with pytest.raises(kind) as error:
        RemoteA2aAgent("helper", **how)
    assert message in str(error.value)


@pytest.mark.parametrize("question", ["approve", "approve_aloud"])
@pytest.mark.parametrize("resumable", [False, True])
async def test_a_sequence_continues_after_an_agent_that_is_answered(question, resumable):
    after = LlmAgent(name="after", model=ScriptedLlm(rules=[Rule(then=Say("Then this."))]))
    team = SequentialAgent(name="team", sub_agents=[helper(a2a.card_of("stream")), after])
    app = App(
        name="app",
        root_agent=team,
        resumability_config=ResumabilityConfig(is_resumable=resumable),
    )
    runner = InMemoryRunner(app=app)
    first_events = await runner.run_debug(question, quiet=True)
    assert "after" not in {event.author for event in first_events}
    [call] = [each for event in first_events for each in event.get_function_calls()][-1:]
    response = types.FunctionResponse(id=call.id, name=call.name, response={"approved": True})
    message = types.Content(role="user", parts=[types.Part(function_response=response)])
    session = {"user_id": "debug_user_id", "session_id": "debug_session_id"}
    events = [each async for each in runner.run_async(new_message=message, **session)]
    words = [(each.author, text(each)[:6]) for each in events if text(each)]
    assert words == [("helper", "Taken:"), ("after", "Then t")]


# The connection


async def test_credentials_of_an_open_client_are_sent_with_every_request():
    async with httpx.AsyncClient(headers={"Authorization": "Bearer sesame"}) as client:
        agent = helper(a2a.card_of("secret"), httpx_client=client)
        events = await run_agent(agent, "greet", "echo")
        assert [text(event)[:6] for event in events] == ["Hello.", '[{"met']
        assert not client.is_closed
    [event] = await run_agent(agent, "greet")
    assert (event.error_code, "closed" in event.error_message) == ("A2A_REQUEST_FAILED", True)


async def test_the_factorys_client_fetches_the_card_and_stays_open():
    async with httpx.AsyncClient(headers={"Authorization": "Bearer sesame"}) as client:
        factory = ClientFactory(ClientConfig(httpx_client=client))
        agent = helper(a2a.card_of("secret"), a2a_client_factory=factory)
        for _ in range(2):
            [event] = await run_agent(agent, "greet")
            assert text(event) == "Hello."
        assert not client.is_closed


class Authorised(RemoteA2aAgent):
    async def _ensure_httpx_client(self) -> httpx.AsyncClient:
        client = await super()._ensure_httpx_client()
        client.headers["Authorization"] = "Bearer sesame"
        return client


def test_a_subclass_may_give_a_token_to_the_client_of_each_run():
    agent = Authorised("helper", a2a.card_of("secret"))
    for _ in range(2):
        assert "Does what it is told." in asyncio.run(agent.described_for_models())
        [event] = asyncio.run(run_agent(agent, "greet"))
        assert text(event) == "Hello."
    assert not connections(a2a.address())


def test_the_same_agent_runs_in_several_event_loops():
    agent = helper(a2a.card_of("stream"))
    for _ in range(2):
        [event] = asyncio.run(run_agent(agent, "greet"))
        assert text(event) == "Hello."


def connections(url: str) -> list:
    port = urlsplit(url).port
    all_connections = psutil.Process().net_connections(kind="tcp")
    return [each for each in all_connections if each.raddr and each.raddr.port == port]


async def test_an_abandoned_run_closes_its_connection():
    runner = InMemoryRunner(agent=helper(card()))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    message = types.UserContent("hang")
    run = runner.run_async(user_id="u", session_id=session.id, new_message=message)
    async with aclosing(run) as events:
        async for event in events:
            if event.partial:
                assert text(event) == "Wait"
                assert connections(a2a.address())
                break
    assert not connections(a2a.address())


async def test_a_silent_server_is_an_error_that_names_the_timeout():
    events = await run_agent(helper(card(), timeout=3), "hang")
    assert events[-1].error_code == "A2A_REQUEST_FAILED"
    assert "for 3 s" in events[-1].error_message
    assert "timeout=" in events[-1].error_message


async def test_text_received_before_the_server_died_is_kept():
    server, url = a2a.start()
    try:
        runner = InMemoryRunner(agent=helper(f"{url}/stream{a2a.CARD}"))
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
        message = types.UserContent("hang")
        where = {"user_id": "u", "session_id": session.id}
        events = []
        async for event in runner.run_async(**where, new_message=message):
            events.append(event)
            if event.partial:
                a2a.end(server)
        start, piece, whole, error = events
        assert (text(piece), text(whole), whole.id) == ("Wait", "Wait", piece.id)
        assert not whole.partial
        assert error.error_code == "A2A_REQUEST_FAILED"
        [again] = [e async for e in runner.run_async(**where, new_message=message)]
        assert "Is the server running" in again.error_message
        request = again.custom_metadata["a2a:request"]
        assert request["contextId"] == start.custom_metadata["a2a:context_id"]
    finally:
        a2a.end(server)


@pytest.mark.parametrize("result", ["null", "5", '"x"', "[1]", '{"message": 5}', '{"task": [1]}'])
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_result_that_violates_the_protocol_is_an_error(result, streaming):
    odd = card(streaming)
    odd.supported_interfaces[0].url = f"{a2a.address()}/odd"
    [event] = await run_agent(helper(odd), result)
    assert event.error_code == "A2A_REQUEST_FAILED"
    assert "log of the other server" in event.error_message


# What is sent


async def test_answers_with_credentials_are_not_sent():
    runner = InMemoryRunner(agent=helper(card()))
    [*_, question] = await runner.run_debug("login", quiet=True)
    [call] = question.get_function_calls()
    secret = types.FunctionResponse(id=call.id, name=call.name, response={"token": "sesame"})
    where = {"user_id": "debug_user_id", "session_id": "debug_session_id"}
    answer = types.UserContent(types.Part(function_response=secret))
    events = [event async for event in runner.run_async(**where, new_message=answer)]
    [*_, last] = [*events, *await runner.run_debug("echo", quiet=True)]
    assert "sesame" not in str(last.custom_metadata)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ARGS = st.dictionaries(st.text(), JSON, max_size=3)
NAME = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1)
METADATA = st.none() | st.dictionaries(NAME, JSON, min_size=1, max_size=2)
PARTS = st.one_of(
    st.builds(types.Part, text=st.text(), part_metadata=METADATA),
    st.builds(
        types.Part,
        inline_data=st.builds(types.Blob, data=st.binary(), mime_type=NAME, display_name=NAME),
    ),
    st.builds(
        types.Part,
        file_data=st.builds(types.FileData, file_uri=NAME, mime_type=NAME, display_name=NAME),
    ),
    st.builds(
        types.Part,
        function_call=st.builds(types.FunctionCall, id=NAME, name=NAME, args=ARGS),
        thought_signature=st.none() | st.binary(min_size=1),
    ),
    st.builds(
        types.Part,
        function_response=st.builds(types.FunctionResponse, id=NAME, name=NAME, response=ARGS),
    ),
)


@given(PARTS)
def test_parts_survive_the_round_trip(part):
    a2a_part = to_a2a(part)
    back = from_a2a(a2a_part)
    again = to_a2a(back)
    assert a2a_part == again
    plain = {"exclude_none": True, "exclude": {"part_metadata"}}
    assert back.model_dump(**plain) == part.model_dump(**plain)
    assert (part.part_metadata or {}).items() <= (back.part_metadata or {}).items()


@given(JSON)
def test_data_survives_the_round_trip(data):
    a2a_part = to_a2a(types.Part(text=""))
    a2a_part.data.CopyFrom(to_a2a(types.Part(function_call={"args": {"a": data}})).data)
    assert to_a2a(from_a2a(a2a_part)) == a2a_part


# The extra


def test_without_the_extra_the_import_says_what_to_install():
    code = (
        "import sys\n"
        "import devui.runtime.agents, devui.runtime.runners\n"
        "assert not {'a2a', 'google.protobuf'} & set(sys.modules)\n"
        "sys.modules['a2a'] = None\n"
        "try:\n"
        "    from devui.runtime.agents.remote_a2a_agent import RemoteA2aAgent\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "pip install 'devui[a2a]'" in output
