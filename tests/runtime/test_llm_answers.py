"""Models' answers: fragments, errors, outputs, structured output."""

import ssl
from typing import Literal

import pytest
from google.genai import types
from google.genai.errors import ServerError
from pydantic import BaseModel

from devui.runtime.agents import LlmAgent
from devui.runtime.models import (
    BaseLlm,
    Call,
    Fail,
    FallbackModel,
    LlmCapabilities,
    LlmResponse,
    Rule,
    Say,
    ScriptedLlm,
)
from tests.kit.conversation import STREAMED, Conversation, said
from tests.kit.travel_agent import travel_agent


async def test_fragments_share_the_answers_id_and_only_the_answer_changes_state():
    events = await Conversation(travel_agent(output_key="advice")).say(
        "A flight to London", STREAMED
    )

    *fragments, answer = events[2:]
    assert [event.partial for event in fragments] == [True, True, True]
    assert {event.id for event in fragments} == {answer.id}
    assert len({event.id for event in events}) == 3
    assert all(event.actions.state_delta == {} for event in fragments)
    assert answer.actions.state_delta == {"advice": "Fly to LHR, or to LGW."}


async def test_fragments_are_not_stored():
    conversation = Conversation(travel_agent())

    events = await conversation.say("A flight to London", STREAMED)

    whole = [event.id for event in events if not event.partial]
    assert [event.id for event in (await conversation.session()).events[1:]] == whole


class OddError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


LONG = ValueError("of\n two lines " + "x" * 1000)
LONG.add_note("noted")
BOTH = ExceptionGroup("down", [OSError("gone"), ExceptionGroup("all", [KeyError("k")])])
ODD = ExceptionGroup("odd", [OddError(), LONG, SyntaxError("no", ("f.py", 3, 1, "a b"))])
MANY = ExceptionGroup("many", [ValueError(str(number)) for number in range(5000)])
TOLD_ODD = f"""odd (3 sub-exceptions)
OddError: (formatting its message raised RuntimeError)
ValueError: of two lines {"x" * 275}…
SyntaxError: no (f.py, line 3)"""
TOLD_MANY = "\n".join(
    ["many (5000 sub-exceptions)", *(f"ValueError: {n}" for n in range(20)), "(and 4980 more)"]
)


@pytest.mark.parametrize(
    ("exception", "message"),
    [
        (OSError("gone"), "gone"),
        (BOTH, "down (2 sub-exceptions)\nOSError: gone\nKeyError: 'k'"),
        (ODD, TOLD_ODD),
        (MANY, TOLD_MANY),
    ],
)
async def test_an_exception_becomes_a_stored_error_event_and_is_raised(exception, message):
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=[Rule(then=Fail(raises=exception))]))
    conversation = Conversation(agent)

    with pytest.raises(type(exception)) as error_info:
        await conversation.say("go")
    assert error_info.value is exception

    error = (await conversation.session()).events[-1]
    assert (error.author, error.error_code) == ("a", type(exception).__name__)
    assert error.error_message == message
    assert error.is_final_response()


async def test_an_error_response_of_the_model_is_a_final_event():
    rules = [Rule(then=Fail("SAFETY", "Blocked."))]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules))

    [event] = await Conversation(agent).say("go")

    assert (event.error_code, event.error_message, event.content) == ("SAFETY", "Blocked.", None)
    assert event.is_final_response()


@pytest.mark.parametrize("run_config", [None, STREAMED])
async def test_an_answer_with_only_thoughts_is_an_error(run_config):
    rules = [Rule(then=Say("Hm.", thought=True))]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules))

    event = (await Conversation(agent).say("go", run_config))[-1]

    assert event.error_code == "MODEL_RETURNED_NO_CONTENT"


async def test_output_key_stores_everything_said_in_the_turn():
    def step() -> str:
        return "ok"

    rules = [
        Rule(after="step", then=Say("Done.")),
        Rule(then=[Say("Hm", thought=True), Say("Wait. "), Call("step")]),
    ]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[step], output_key="said")
    conversation = Conversation(agent)

    await conversation.say("go")

    assert (await conversation.session()).state["said"] == "Wait. Done."


class City(BaseModel):
    name: str
    airports: list[str] = []
    mayor: str | None = None


async def test_an_output_schema_is_requested_and_its_answer_parsed():
    rules = [Rule(then=Say('```json\n{"name": "Rome"}\n```'))]
    agent = LlmAgent(
        name="a", model=ScriptedLlm(rules=rules), output_schema=City, output_key="city"
    )
    conversation = Conversation(agent)

    await conversation.say("go")

    assert (await conversation.session()).state["city"] == {"name": "Rome", "airports": []}
    config = agent.model.requests[0].config
    assert (config.response_schema, config.response_mime_type) == (City, "application/json")


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (str, "7", "7"),
        (str, '"7"', "7"),
        (str, "Rome.", "Rome."),
        (str, '{"name": "Rome"}', '{"name": "Rome"}'),
        (str | None, "null", None),
        (int | str, "seven", "seven"),
        (int | str, "7", 7),
        (Literal["yes", "no"], "yes", "yes"),
        (City, '```json {"name": "Rome"}```', {"name": "Rome", "airports": []}),
        (list[int], "```\n[1, 2]\n```", [1, 2]),
    ],
)
async def test_an_answer_is_parsed_according_to_its_schema(schema, text, value):
    model = ScriptedLlm(rules=[Rule(then=Say(text))])
    conversation = Conversation(
        LlmAgent(name="a", model=model, output_schema=schema, output_key="said")
    )

    await conversation.say("go")

    assert (await conversation.session()).state["said"] == value


async def test_an_answer_that_does_not_fit_the_schema_is_shown_and_raises():
    agent = LlmAgent(
        name="a",
        model=ScriptedLlm(rules=[Rule(then=Say('{"title": "Rome"}'))]),
        output_schema=City,
        output_key="city",
    )
    conversation = Conversation(agent)

    with pytest.raises(ValueError, match="does not fit its output_schema"):
        await conversation.say("go")

    answer, error = conversation.heard
    assert said(answer) == '{"title": "Rome"}'
    assert error.error_code == "ValueError"


class EitherOr(ScriptedLlm):
    """A model that doesn't support a schema together with tools."""

    @property
    def capabilities(self):
        return LlmCapabilities()


async def test_with_tools_the_structured_answer_is_a_tool_call():
    rules = [
        Rule(after="set_model_response", then=Call("set_model_response", name="Rome")),
        Rule(then=Call("set_model_response", title="Rome")),
    ]
    agent = travel_agent(model=EitherOr(rules=rules), output_schema=City, output_key="city")
    conversation = Conversation(agent)

    _, refusal, _, accepted, answer = await conversation.say("go")

    assert "does not fit" in refusal.get_function_responses()[0].response["error"]
    assert accepted.actions.set_model_response == {"name": "Rome", "airports": []}
    assert said(answer) == '{"name": "Rome", "airports": []}'
    assert (await conversation.session()).state["city"] == {"name": "Rome", "airports": []}
    names = [d.name for d in agent.model.requests[0].config.tools[0].function_declarations]
    assert names == ["set_model_response", "find_airports"]


async def test_a_list_is_wrapped_for_the_structured_answer():
    rules = [Rule(then=Call("set_model_response", items=[{"name": "Rome"}]))]
    agent = travel_agent(model=EitherOr(rules=rules), output_schema=list[City])

    *_, answer = await Conversation(agent).say("go")

    assert said(answer) == '[{"name": "Rome", "airports": []}]'


async def test_a_stream_that_ends_with_a_fragment_ends_the_turn(caplog):
    class Unfinished(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            yield LlmResponse(content=types.ModelContent("half"), partial=True)

    events = await Conversation(LlmAgent(name="a", model=Unfinished(model="x"))).say("go")

    assert [said(event) for event in events] == ["half"]
    assert "ended its stream with a fragment" in caplog.text


async def test_a_fallback_model_gets_settings_that_cannot_be_copied():
    context = ssl.create_default_context()
    contexts = []

    class Asked(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            contexts.append(llm_request.config.http_options.client_args["verify"])
            if len(contexts) == 1:
                raise ServerError(503, {"error": {"message": "down", "status": "UNAVAILABLE"}})
            yield LlmResponse(content=types.ModelContent("Here."))

    options = types.HttpOptions(client_args={"verify": context})
    agent = LlmAgent(
        name="agent",
        model=FallbackModel(models=[Asked(model="first"), Asked(model="second")]),
        generate_content_config=types.GenerateContentConfig(http_options=options),
    )

    events = await Conversation(agent).say("Hello")

    assert events[-1].content.parts[0].text == "Here."
    assert contexts == [context, context]
