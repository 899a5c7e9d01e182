"""Gemini's context cache, against a local server (adk-runtime 9.6)."""

import logging

import pytest
from google.genai.errors import ClientError

from devui.runtime.agents import LlmAgent, RunConfig
from devui.runtime.agents.context_cache_config import ContextCacheConfig
from devui.runtime.agents.run_config import StreamingMode
from devui.runtime.apps import App
from devui.runtime.models import Gemini
from devui.runtime.runners import InMemoryRunner
from tests.kit.gemini_server import GeminiServer, cache, call, chunk, text

MANY = {"promptTokenCount": 5000, "totalTokenCount": 5001}
ANSWER = chunk(text("Yes."), finish="STOP", usageMetadata=MANY)


def look(place: str) -> str:
    """Looks."""
    return f"seen {place}"


class Talk:
    """A conversation with an agent whose app has a context cache."""

    def __init__(self, server: GeminiServer, *, model: str = "gemini-test", **config) -> None:
        self.server = server
        key = {"api_key": "test-key"}
        self.model = Gemini(model=model, base_url=server.url, client_kwargs=key)
        self.agent = LlmAgent(
            name="agent", model=self.model, instruction="Be {mood}.", tools=[look]
        )
        cache_config = ContextCacheConfig(**config)
        self.runner = InMemoryRunner(
            app=App(name="app", root_agent=self.agent, context_cache_config=cache_config)
        )

    async def begin(self) -> None:
        where = {"app_name": "app", "user_id": "debug_user_id"}
        await self.runner.session_service.create_session(
            **where, session_id="debug_session_id", state={"mood": "kind"}
        )

    async def say(self, *answers, stream: bool = False) -> list:
        """Return the paths and bodies of the requests, and set `metadata` from the last event."""
        self.server.received.clear()
        for answer in answers:
            self.server.answer(answer)
        mode = StreamingMode.SSE if stream else StreamingMode.NONE
        events = await self.runner.run_debug(
            "Well?", run_config=RunConfig(streaming_mode=mode), quiet=True
        )
        self.metadata = events[-1].cache_metadata
        return [(got.path.rpartition("/")[2], got.body) for got in self.server.received]


@pytest.fixture
def server():
    with GeminiServer() as running:
        yield running


@pytest.fixture
async def talk(server):
    conversation = Talk(server)
    await conversation.begin()
    yield conversation
    await conversation.model.api_client.aio.aclose()


@pytest.mark.parametrize("stream", [False, True])
async def test_the_second_request_creates_a_cache_and_the_third_uses_it(talk, stream):
    [(_, first)] = await talk.say(ANSWER, stream=stream)
    assert "cachedContent" not in first
    assert (talk.metadata.cache_name, talk.metadata.contents_count) == (None, 0)

    [(path, cached), (_, second)] = await talk.say(cache("one"), ANSWER, stream=stream)
    assert (path, cached["ttl"], len(cached["contents"])) == ("cachedContents", "1800s", 2)
    assert "Be kind." in str(cached["systemInstruction"])
    assert "look" in str(cached["tools"])
    assert second["cachedContent"] == "cachedContents/one"
    assert [each["parts"] for each in second["contents"]] == [[{"text": "Well?"}]]
    assert not {"systemInstruction", "tools", "toolConfig"} & second.keys()
    assert (talk.metadata.invocations_used, talk.metadata.contents_count) == (1, 2)

    [(_, third)] = await talk.say(ANSWER, stream=stream)
    assert (third["cachedContent"], len(third["contents"])) == ("cachedContents/one", 3)
    assert (talk.metadata.cache_name, talk.metadata.invocations_used) == ("cachedContents/one", 2)


async def test_calls_of_one_invocation_count_as_one_use_of_the_cache(talk):
    await talk.say(ANSWER)
    calls = chunk(call("look", place="here"), finish="STOP", usageMetadata=MANY)

    _, (_, first), (_, second) = await talk.say(cache("one"), calls, ANSWER)

    assert [len(body["contents"]) for body in (first, second)] == [1, 3]
    assert second["cachedContent"] == "cachedContents/one"
    assert talk.metadata.invocations_used == 1


async def test_a_request_with_a_new_beginning_is_sent_whole_and_the_cache_deleted(talk):
    await talk.say(ANSWER)
    await talk.say(cache("one"), ANSWER)
    talk.agent.instruction = "Be brief."

    (path, _), (_, body) = await talk.say(ANSWER)

    assert (path, "cachedContent" in body, len(body["contents"])) == ("one", False, 5)
    assert (talk.metadata.cache_name, talk.metadata.contents_count) == (None, 4)


async def test_an_expired_cache_is_replaced_with_a_longer_one(talk):
    await talk.say(ANSWER)
    await talk.say(cache("one", "2001-01-01T00:00:00Z"), ANSWER)

    (path, _), (_, cached), (_, body) = await talk.say(cache("two"), ANSWER)

    assert (path, len(cached["contents"]), len(body["contents"])) == ("one", 4, 1)
    assert (body["cachedContent"], talk.metadata.contents_count) == ("cachedContents/two", 4)


async def test_a_cache_is_renewed_after_its_number_of_invocations(server):
    talk = Talk(server, cache_intervals=1)
    await talk.begin()
    await talk.say(ANSWER)
    await talk.say(cache("one"), ANSWER)

    paths = [path for path, _ in await talk.say(cache("two"), ANSWER)]

    assert paths == ["one", "cachedContents", "gemini-test:generateContent"]
    assert talk.metadata.invocations_used == 1


@pytest.mark.parametrize(
    ("model", "config"),
    [("gemini-test", {"min_tokens": 5001}), ("gemini-2.5-pro", {}), ("gemini-3-pro", {})],
)
async def test_small_requests_are_not_cached(server, model, config):
    talk = Talk(server, model=model, **config)
    await talk.begin()
    few = chunk(text("Yes."), finish="STOP", usageMetadata=MANY | {"promptTokenCount": 1000})
    await talk.say(few)

    [(_, body)] = await talk.say(few)

    assert ("cachedContent" in body, len(body["contents"])) == (False, 3)
    assert (talk.metadata.cache_name, talk.metadata.contents_count) == (None, 2)


async def test_the_whole_request_is_sent_if_the_cache_cannot_be_created(talk, caplog):
    await talk.say(ANSWER)
    talk.server.fail(400, "INVALID_ARGUMENT", "Too small to be kept.")

    with caplog.at_level(logging.WARNING):
        (path, _), (_, body) = await talk.say(ANSWER)

    assert (path, "cachedContent" in body, len(body["contents"])) == ("cachedContents", False, 3)
    assert "Too small to be kept." in caplog.text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("code", [403, 404])
async def test_a_cache_that_gemini_has_lost_is_created_again(talk, caplog, code, stream):
    await talk.say(ANSWER)
    await talk.say(cache("one"), ANSWER)
    talk.server.fail(code, "NOT_HERE", "CachedContent not found (or permission denied)")

    with caplog.at_level(logging.WARNING):
        (_, first), (_, body) = await talk.say(ANSWER, stream=stream)

    assert first["cachedContent"] == "cachedContents/one"
    assert ("cachedContent" in body, len(body["contents"])) == (False, 5)
    assert "CachedContent not found" in caplog.text
    assert talk.metadata.cache_name is None

    (path, _), (_, body) = await talk.say(cache("two"), ANSWER, stream=stream)
    assert (path, body["cachedContent"]) == ("cachedContents", "cachedContents/two")


async def test_an_error_unrelated_to_the_cache_is_raised(talk):
    await talk.say(ANSWER)
    await talk.say(cache("one"), ANSWER)
    for _ in range(2):
        talk.server.fail(403, "PERMISSION_DENIED", "This key is blocked.")

    with pytest.raises(ClientError, match="This key is blocked"):
        await talk.say()
