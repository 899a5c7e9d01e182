"""The callbacks around models and tools: names, order, and what each result does."""

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, Fail, LlmResponse, Rule, Say, ScriptedLlm
from devui.runtime.plugins import BasePlugin
from tests.kit.conversation import STREAMED, Conversation, said


def add(a: int, b: int) -> int:
    return a + b


def broken() -> None:
    raise RuntimeError("broken")


def adder(then=None, **fields):
    rules = [
        Rule(after="add", then=Say("It is {result}.", chunks=2)),
        Rule(after="broken", then=Say("{result}")),
        Rule(then=then or Call("add", a=1, b=2)),
    ]
    model = ScriptedLlm(rules=rules)
    return LlmAgent(**({"name": "adder", "model": model, "tools": [add, broken]} | fields))


def response(text):
    return LlmResponse(content=types.ModelContent(text))


async def answer(agent, run_config=None, **kwargs):
    return said((await Conversation(agent, **kwargs).say("go", run_config))[-1])


async def test_before_model_can_answer_instead_of_the_model():
    def answer_instead(callback_context, llm_request):
        callback_context.state["asked"] = llm_request.contents[-1].parts[0].text
        return response("cached")

    agent = adder(before_model_callback=answer_instead)
    conversation = Conversation(agent)

    [event] = await conversation.say("go")

    assert (said(event), event.actions.state_delta) == ("cached", {"asked": "go"})
    assert agent.model.requests == []


async def test_before_model_can_change_the_request_without_changing_the_history():
    def shorten(callback_context, llm_request):
        llm_request.contents = llm_request.contents[-1:]
        llm_request.config.temperature = 0.9

    agent = adder(before_model_callback=shorten)
    conversation = Conversation(agent)
    await conversation.say("go")
    await conversation.say("go on")

    assert [len(request.contents) for request in agent.model.requests] == [1, 1, 1, 1]
    assert agent.model.requests[0].config.temperature == 0.9
    assert len((await conversation.session()).events) == 8


async def test_callbacks_of_a_list_run_until_one_answers():
    calls = []

    def first(callback_context, llm_request):
        calls.append("first")

    async def second(callback_context, llm_request):
        calls.append("second")
        return response("second")

    def third(callback_context, llm_request):
        calls.append("third")

    assert await answer(adder(before_model_callback=[first, second, third])) == "second"
    assert calls == ["first", "second"]


async def test_after_model_sees_every_fragment_and_may_replace_the_answer():
    fragments = []

    def shout(callback_context, llm_response):
        fragments.append((said(llm_response), bool(llm_response.partial)))
        if not llm_response.get_function_calls():
            return response(said(llm_response).upper())
        return None

    events = await Conversation(adder(after_model_callback=shout)).say("go", STREAMED)

    assert fragments == [("", False), ("It", True), (" is 3.", True), ("It is 3.", False)]
    assert [(said(event), event.partial) for event in events[2:]] == [
        ("IT", True),
        (" IS 3.", True),
        ("IT IS 3.", None),
    ]
    assert events[-1].usage_metadata.total_token_count > 0


async def test_state_written_by_model_callbacks_is_committed_with_the_whole_answer():
    def count(callback_context, llm_response):
        callback_context.state["n"] = callback_context.state.get("n", 0) + 1

    events = await Conversation(adder(then=Say("a b", chunks=2), after_model_callback=count)).say(
        "go", STREAMED
    )

    assert [event.actions.state_delta for event in events] == [{}, {}, {"n": 3}]


async def test_an_error_of_the_model_can_be_replaced_with_an_answer():
    def apologise(callback_context, llm_request, error):
        return response(f"Sorry: {error}")

    agent = adder(then=Fail(raises=OSError("gone")), on_model_error_callback=apologise)

    assert await answer(agent) == "Sorry: gone"


async def test_after_tool_still_runs_if_before_tool_answers_for_the_tool():
    calls = []

    def before(tool, args, tool_context):
        calls.append(("before", tool.name, args))
        return {"result": 40}

    def after(tool, args, tool_context, tool_response):
        calls.append(("after", tool_response))
        return {"result": tool_response["result"] + 2}

    agent = adder(before_tool_callback=before, after_tool_callback=after)

    assert await answer(agent) == "It is 42."
    assert calls == [("before", "add", {"a": 1, "b": 2}), ("after", {"result": 40})]


async def test_before_tool_can_change_the_arguments_without_changing_the_history():
    def double(tool, args, tool_context):
        args["a"] *= 10

    call, _, last = await Conversation(adder(before_tool_callback=double)).say("go")

    assert said(last) == "It is 12."
    assert call.get_function_calls()[0].args == {"a": 1, "b": 2}


async def test_after_tool_gets_the_result_as_the_tool_returned_it():
    def after(tool, args, tool_context, tool_response):
        assert tool_response == 3
        return {"result": "three"}

    assert await answer(adder(after_tool_callback=after)) == "It is three."


async def test_an_error_of_a_tool_can_be_replaced_with_a_result():
    def recover(tool, args, tool_context, error):
        return {"result": f"no luck: {error}"}

    agent = adder(then=Call("broken"), on_tool_error_callback=recover)

    assert await answer(agent) == "no luck: broken"


async def test_callbacks_can_answer_for_a_tool_that_does_not_exist():
    def recover(tool, args, tool_context, error):
        return {"result": f"{tool.name} is new to me"}

    agent = adder(then=Call("add_up"), on_tool_error_callback=recover)
    agent.model.rules = [Rule(after="add_up", then=Say("{result}")), *agent.model.rules]

    assert await answer(agent) == "add_up is new to me"


async def test_an_error_in_a_callback_ends_the_run():
    def before(tool, args, tool_context):
        raise LookupError("my own")

    conversation = Conversation(adder(before_tool_callback=before))

    with pytest.raises(LookupError, match="my own"):
        await conversation.say("go")

    assert conversation.heard[-1].error_code == "LookupError"


async def test_callbacks_with_other_parameter_names_get_the_values_in_order():
    def before(the_tool, the_args, where):
        return {"result": sum(the_args.values()) + 100}

    assert await answer(adder(before_tool_callback=before)) == "It is 103."


async def test_plugins_run_before_the_agents_own_callbacks():
    order = []

    class Watch(BasePlugin):
        async def before_model_callback(self, *, callback_context, llm_request):
            order.append("plugin before model")

        async def before_tool_callback(self, *, tool, tool_args, tool_context):
            order.append("plugin before tool")
            return {"result": 7}

        async def after_tool_callback(self, *, tool, tool_args, tool_context, result):
            order.append(f"plugin after tool {result}")

    def own(name):
        def callback(**values):
            order.append(name)

        return callback

    agent = adder(
        before_model_callback=own("own before model"),
        before_tool_callback=own("own before tool"),
        after_tool_callback=own("own after tool"),
    )

    assert await answer(agent, plugins=[Watch(name="watch")]) == "It is 7."
    assert order == [
        "plugin before model",
        "own before model",
        "plugin before tool",
        "plugin after tool {'result': 7}",
        "own after tool",
        "plugin before model",
        "own before model",
    ]


async def test_content_from_before_agent_is_stored_under_the_output_key():
    def closed(callback_context):
        return types.ModelContent("We are closed.")

    conversation = Conversation(adder(before_agent_callback=closed, output_key="said"))

    await conversation.say("go")

    assert (await conversation.session()).state["said"] == "We are closed."
