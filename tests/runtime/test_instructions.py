"""Instructions: templates, functions, and their place in a request."""

import re

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent
from devui.runtime.models import Rule, Say, ScriptedLlm
from tests.kit.conversation import Conversation, outline


def agent(**fields):
    model = ScriptedLlm(rules=[Rule(then=Say("ok"))])
    return LlmAgent(**({"name": "guide", "model": model} | fields))


async def system_instruction(instruction, state=None, **fields):
    """Return the system instruction without the sentence about the agent's identity."""
    root = agent(instruction=instruction, **fields)
    await Conversation(root, state=state).say("hi")
    text = root.model.requests[0].config.system_instruction
    return text.rpartition("\n\nYou are an agent;")[0]


STATE = {"city": "Rome", "none": None, "app:shop": "S", "user:tier": "gold", "deep": {"a": 1}}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Go to {city}.", "Go to Rome."),
        ("{ city }{none}|", "Rome|"),
        ("{app:shop} {user:tier} {deep}", "S gold {'a': 1}"),
        ("{missing?}{city?}", "Rome"),
        ("{{city}}", "Rome"),
        ("${city} \\{city}", "${city} \\{city}"),
        (
            "{lbrace}city} {lbrace}{lbrace} city }}, {lbrace}{city}{rbrace}",
            "{city} {{ city }}, {Rome}",
        ),
        ('{"city": 1} {} {a b} {deep.a} {other:city} {app:user:x}',) * 2,
    ],
)
async def test_templates_are_filled_from_the_state(template, text):
    assert await system_instruction(template, STATE) == text


async def test_a_missing_key_is_an_error_that_says_what_to_do():
    conversation = Conversation(agent(instruction="Go to {city}."))

    with pytest.raises(KeyError, match="city"):
        await conversation.say("hi")

    error = conversation.heard[-1]
    assert error.error_code == "KeyError"
    assert error.error_message.startswith("The instruction of agent 'guide' needs the state key")
    assert "{city?}" in error.error_message


@pytest.mark.parametrize("braced", ["{name}", "{{ CREATED_AT }}", "{user:name}", "{{{x}}}"])
async def test_the_error_for_a_missing_key_says_how_to_keep_the_braces(braced):
    with pytest.raises(KeyError) as error:
        await system_instruction(f"enum MyField {braced}")

    words = re.search(r"To keep the braces in the text, write (.*), or pass", str(error.value))
    assert await system_instruction(f"enum MyField {words[1]}") == f"enum MyField {braced}"


async def test_a_state_key_named_lbrace_is_filled_in():
    assert await system_instruction("{lbrace}city}", {"lbrace": "mine"}) == "minecity}"


async def test_an_artifact_is_inserted_by_its_name():
    root = agent(instruction="Read: {artifact.notes.txt} {artifact.none?}")
    conversation = Conversation(root)
    await conversation.runner.artifact_service.save_artifact(
        app_name="app",
        user_id="user",
        session_id="s",
        filename="notes.txt",
        artifact=types.Part(text="{city} stays"),
    )

    await conversation.say("hi")

    instruction = root.model.requests[0].config.system_instruction
    assert instruction.startswith("Read: {city} stays \n\n")


async def test_a_missing_artifact_is_an_error():
    with pytest.raises(KeyError, match=r"artifact\.notes\.txt"):
        await system_instruction("Read: {artifact.notes.txt}")


async def test_the_text_of_an_instruction_function_is_not_filled_in():
    def template(context):
        return f"{context.state['city']} {{city}}"

    async def awaited(context):
        return template(context)

    assert await system_instruction(template, STATE) == "Rome {city}"
    assert await system_instruction(awaited, STATE) == "Rome {city}"


async def test_the_roots_global_instruction_comes_first_for_every_agent():
    leaf = agent(name="leaf", instruction="Be a leaf.", global_instruction="ignored")
    root = agent(
        name="root", sub_agents=[leaf], global_instruction="In {city} be kind.", instruction="Root."
    )
    context = Conversation(root, state=STATE)
    await context.say("hi")
    assert root.model.requests[0].config.system_instruction.startswith(
        "In Rome be kind.\n\nRoot.\n\n"
    )


async def test_a_root_without_a_model_has_no_global_instruction():
    child = agent(instruction="Be brief.")

    class Wrapper(BaseAgent):
        async def _run_async_impl(self, ctx):
            async for event in child.run_async(ctx):
                yield event

    await Conversation(Wrapper(name="root", sub_agents=[child])).say("hi")

    assert child.model.requests[0].config.system_instruction.startswith("Be brief.\n\n")


async def test_the_identity_contains_name_and_description():
    root = agent(description="Knows the way.")

    await Conversation(root).say("hi")

    text = root.model.requests[0].config.system_instruction
    assert '"guide"' in text
    assert '"Knows the way."' in text


async def test_with_a_static_instruction_the_other_one_precedes_the_users_message():
    root = agent(static_instruction="Never {change}.", instruction="Now in {city}.")
    conversation = Conversation(root, state=STATE)

    await conversation.say("hi")
    await conversation.say("and now?")

    request = root.model.requests[1]
    assert request.config.system_instruction.startswith("Never {change}.\n\n")
    brief = outline(request.contents)
    assert [role for role, _ in brief] == ["user", "model", "user", "user"]
    assert "<<<BEGIN_SYSTEM_INSTRUCTION>>>\nNow in Rome.\n<<<END" in brief[2][1][0]
    assert brief[3] == ("user", ["and now?"])


async def test_files_of_a_static_instruction_become_contents():
    blob = types.Blob(data=b"x", mime_type="image/png")
    static = types.Content(
        role="user", parts=[types.Part(text="See the map."), types.Part(inline_data=blob)]
    )
    root = agent(static_instruction=static)

    await Conversation(root).say("hi")

    request = root.model.requests[0]
    assert request.config.system_instruction.startswith(
        "See the map.\n\n[See inline_data_0 (image/png)]"
    )
    assert request.contents[0].parts[1].inline_data == blob
    assert request.contents[1].parts[0].text == "hi"
