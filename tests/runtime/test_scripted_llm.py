"""The scripted model: rules in, deterministic answers out."""

import pytest
from google.genai import types

from devui.runtime.models import Call, Fail, LlmRequest, Rule, Say, ScriptedLlm, ScriptError
from devui.runtime.models.quoting import AGENT_PREAMBLE


def user(text):
    return types.Content(role="user", parts=[types.Part(text=text)])


def model(*parts):
    return types.Content(role="model", parts=list(parts))


def calling(name, **args):
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


def results(*responses):
    parts = [
        types.Part(function_response=types.FunctionResponse(name=name, response=response))
        for name, response in responses
    ]
    return types.Content(role="user", parts=parts)


async def ask(llm, *contents, stream=False):
    request = LlmRequest(contents=list(contents))
    return [response async for response in llm.generate_content_async(request, stream)]


def texts(responses):
    return [part.text for response in responses for part in response.content.parts]


async def test_the_first_matching_rule_answers():
    llm = ScriptedLlm(
        rules=[
            Rule(user="weather", then=Say("Sunny.")),
            Rule(user="weather in Rome", then=Say("never")),
            Rule(then=Say("What?")),
        ]
    )

    assert texts(await ask(llm, user("The WEATHER in Rome?"))) == ["Sunny."]
    assert texts(await ask(llm, user("Good morning"))) == ["What?"]


async def test_named_groups_fill_the_templates_of_calls_and_texts():
    rule = Rule(
        user=r"to (?P<city>\w+)", then=[Say("Looking for {city}."), Call("find", city="{city}")]
    )

    [answer] = await ask(ScriptedLlm(rules=[rule]), user("Fly to London"))

    assert answer.content.parts[0].text == "Looking for London."
    assert answer.get_function_calls()[0].args == {"city": "London"}


async def test_a_rule_after_a_tool_sees_what_it_returned():
    llm = ScriptedLlm(
        rules=[
            Rule(user="fly", then=Call("find")),
            Rule(
                after="find",
                then=[Say("Take {result.1} of {result}."), Call("book", at="{result}")],
            ),
        ]
    )

    [answer] = await ask(
        llm,
        user("fly"),
        model(calling("find")),
        results(("find", {"result": ["LHR", "LGW"]})),
    )

    assert answer.content.parts[0].text == 'Take LGW of ["LHR", "LGW"].'
    assert answer.get_function_calls()[0].args == {"at": ["LHR", "LGW"]}


async def test_templates_reach_into_dicts_and_unknown_ones_are_left_alone():
    llm = ScriptedLlm(rules=[Rule(after="find", then=Say("{result.city.name} {result.x} {a b}"))])

    answers = await ask(llm, results(("find", {"city": {"name": "Rome"}})))

    assert texts(answers) == ["Rome {result.x} {a b}"]


async def test_a_rule_can_wait_for_the_nth_call_of_a_tool():
    llm = ScriptedLlm(
        rules=[
            Rule(after="step", calls=2, then=Say("done")),
            Rule(after="step", then=Call("step")),
            Rule(user="go", then=Call("step")),
        ]
    )
    step = (model(calling("step")), results(("step", {"result": None})))

    [first] = await ask(llm, user("go"), *step)
    [second] = await ask(llm, user("go"), *step, *step)

    assert first.get_function_calls()[0].name == "step"
    assert texts([second]) == ["done"]


async def test_quotes_of_other_agents_are_not_the_users_message():
    quoted = types.Content(
        role="user", parts=[types.Part(text=AGENT_PREAMBLE), types.Part(text="weather")]
    )
    llm = ScriptedLlm(rules=[Rule(user="^bill$", then=Say("{user}, please"))])

    assert texts(await ask(llm, user("bill"), quoted)) == ["bill, please"]


async def test_streaming_gives_fragments_and_then_the_whole_answer():
    llm = ScriptedLlm(rules=[Rule(then=Say("one two three four five", chunks=3))])

    *fragments, whole = await ask(llm, user("count"), stream=True)

    assert texts(fragments) == ["one", " two three", " four five"]
    assert all(fragment.partial for fragment in fragments)
    assert texts([whole]) == ["one two three four five"]
    assert not whole.partial
    assert whole.finish_reason == types.FinishReason.STOP


async def test_token_counts_are_deterministic():
    llm = ScriptedLlm(rules=[Rule(then=[Say("think", thought=True), Say("abcdefgh", chunks=2)])])

    answers = [(await ask(llm, user("count"), stream=stream))[-1] for stream in (True, False)]

    usage = answers[0].usage_metadata
    assert usage == answers[1].usage_metadata
    assert (usage.prompt_token_count, usage.thoughts_token_count) == (2, 2)
    assert (usage.candidates_token_count, usage.total_token_count) == (2, 6)


async def test_short_texts_are_split_between_characters():
    llm = ScriptedLlm(rules=[Rule(then=Say("abc", chunks=9))])

    assert texts(await ask(llm, user("x"), stream=True)) == ["a", "b", "c", "abc"]


async def test_a_failure_is_an_error_response():
    llm = ScriptedLlm(rules=[Rule(then=Fail("RESOURCE_EXHAUSTED", "Too many requests."))])

    [answer] = await ask(llm, user("x"))

    assert (answer.error_code, answer.error_message) == ("RESOURCE_EXHAUSTED", "Too many requests.")
    assert answer.content is None


async def test_a_model_can_fail_in_the_middle_of_an_answer():
    rule = Rule(then=[Say("half an answer", chunks=3), Fail(raises=ConnectionError("gone"))])
    responses = []

    async def listen():
        request = LlmRequest(contents=[user("x")])
        async for response in ScriptedLlm(rules=[rule]).generate_content_async(request, True):
            responses.append(response)

    with pytest.raises(ConnectionError, match="gone"):
        await listen()
    assert "".join(texts(responses)) == "half an answer"


async def test_the_error_without_a_matching_rule_says_what_to_do():
    llm = ScriptedLlm(rules=[Rule(user="weather", then=Say("Sunny."))])

    with pytest.raises(ScriptError, match=r"'book a flight'.*Add a rule"):
        await ask(llm, user("book a flight"))


async def test_the_latest_100_requests_are_recorded():
    llm = ScriptedLlm(rules=[Rule(then=Say("ok"))])

    for number in range(105):
        await ask(llm, user(str(number)))

    assert len(llm.requests) == 100
    assert llm.requests[-1].contents[0].parts[0].text == "104"
