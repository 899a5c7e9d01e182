"""Calls without a result get a placeholder result for Gemini (adk-runtime 9.3)."""

from itertools import groupby, zip_longest

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Gemini
from devui.runtime.models.missing_results import NO_RESULT, with_all_results
from devui.runtime.runners import InMemoryRunner
from devui.runtime.tools import LongRunningFunctionTool
from tests.kit.gemini_server import GeminiServer, call, chunk, text

OK = chunk(text("Ok."), finish="STOP")


def job(number: int) -> None:
    """A job that takes long."""


async def run(runner, message) -> list:
    part = types.Part(text=message) if isinstance(message, str) else message
    content = types.Content(role="user", parts=[part])
    where = {"user_id": "u", "session_id": "s"}
    return [event async for event in runner.run_async(**where, new_message=content)]


@pytest.fixture
async def say():
    """A function that talks to an agent with jobs and returns the contents sent and the events."""
    with GeminiServer() as server:
        model = Gemini(
            model="gemini-test", base_url=server.url, client_kwargs={"api_key": "test-key"}
        )
        root = LlmAgent(name="root", model=model, tools=[LongRunningFunctionTool(func=job)])
        runner = InMemoryRunner(agent=root)
        runner.auto_create_session = True

        async def send(message, answer=OK) -> tuple[list, list]:
            server.received.clear()
            server.answer(answer)
            events = await run(runner, message)
            return server.received[-1].body["contents"], events

        yield send
        await model.api_client.aio.aclose()


def responses_in(content) -> list:
    responses = [
        part["functionResponse"] for part in content["parts"] if "functionResponse" in part
    ]
    return [each["response"] for each in responses]


async def test_the_user_may_continue_while_a_job_waits(say):
    await say("Begin.", chunk(call("job", number=1), finish="STOP"))

    contents, _ = await say("And now?")

    assert [content["role"] for content in contents] == ["user", "model", "user", "user"]
    assert responses_in(contents[2]) == [{"error": NO_RESULT}]
    assert contents[3]["parts"] == [{"text": "And now?"}]


async def test_one_of_several_jobs_may_be_answered(say):
    both = chunk(call("job", number=1), call("job", number=2), finish="STOP")
    _, events = await say("Begin.", both)
    [_, second] = events[-1].get_function_calls()
    answer = types.FunctionResponse(id=second.id, name="job", response={"done": 2})

    contents, _ = await say(types.Part(function_response=answer))

    assert [content["role"] for content in contents] == ["user", "model", "user"]
    assert sorted(map(str, responses_in(contents[2]))) == sorted(
        map(str, [{"done": 2}, {"error": NO_RESULT}])
    )


def content(role, *parts):
    return types.Content(role=role, parts=list(parts))


def call_part(name: str, *, by_id: bool) -> types.Part:
    own = f"{name} 1" if by_id else None
    return types.Part(function_call=types.FunctionCall(id=own, name=name, args={}))


def responded(name: str, *, by_id: bool) -> types.Part:
    own = f"{name} 1" if by_id else None
    return types.Part(function_response=types.FunctionResponse(id=own, name=name, response={}))


names, flags = st.sampled_from(["look", "find"]), st.booleans()
calls = st.builds(call_part, names, by_id=flags)
responses = st.builds(responded, names, by_id=flags)
words = st.just(types.Part(text="word"))
contents = st.lists(
    st.one_of(
        st.builds(lambda parts: content("model", *parts), st.lists(calls | words, max_size=3)),
        st.builds(lambda parts: content("user", *parts), st.lists(responses | words, max_size=3)),
    ),
    max_size=6,
)


@given(contents)
def test_no_part_is_lost_and_each_call_is_followed_by_a_response(history):
    whole = with_all_results(history)

    assert with_all_results(whole) == whole
    own_parts = [part for each in whole for part in each.parts if not is_stand_in(part)]
    assert own_parts == [part for each in history for part in each.parts]
    turns = [list(turn) for _, turn in groupby(whole, lambda each: each.role)]
    for turn, following in zip_longest(turns, turns[1:], fillvalue=[]):
        calls, results = calls_of(turn), responses_of(following)
        assert len(calls) <= len(results)
        assert {call.name for call in calls} <= {response.name for response in results}


def calls_of(turn) -> list[types.FunctionCall]:
    return [p.function_call for each in turn for p in each.parts if p.function_call]


def responses_of(turn) -> list[types.FunctionResponse]:
    return [p.function_response for each in turn for p in each.parts if p.function_response]


def is_stand_in(part) -> bool:
    response = part.function_response
    return response is not None and response.response == {"error": NO_RESULT}
