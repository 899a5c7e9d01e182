"""The plugins that come with the runtime."""

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.artifacts.message_files import MAX_BYTES
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm
from devui.runtime.plugins import (
    ContextFilterPlugin,
    GlobalInstructionPlugin,
    LoggingPlugin,
    ReflectAndRetryToolPlugin,
    SaveFilesAsArtifactsPlugin,
)
from devui.runtime.plugins.reflect_retry_tool_plugin import TrackingScope
from tests.kit.conversation import Conversation, outline, said


def agent(*rules, **fields):
    rules = rules or [Rule(then=Say("Yes."))]
    return LlmAgent(name="agent", model=ScriptedLlm(rules=rules), **fields)


def texts(request):
    return [part for _, parts in outline(request.contents) for part in parts]


# Context filter


async def after_three_turns(plugin, *rules, **fields):
    """Return the texts sent to the model in the last of three turns."""
    root = agent(*rules, **fields)
    conversation = Conversation(root, plugins=[plugin])
    for word in ("one", "two", "three"):
        await conversation.say(word)
    return texts(root.model.requests[-1])


async def test_only_the_newest_turns_are_sent():
    texts = await after_three_turns(ContextFilterPlugin(num_invocations_to_keep=2))

    assert texts == ["two", "Yes.", "three"]


async def test_turns_are_removed_in_groups_so_that_requests_can_be_cached():
    plugin = ContextFilterPlugin(num_invocations_to_keep=1, remove_amount=3)

    assert await after_three_turns(plugin) == ["one", "Yes.", "two", "Yes.", "three"]


async def test_a_custom_filter_gets_the_remaining_contents():
    plugin = ContextFilterPlugin(2, custom_filter=lambda contents: contents[1:])

    assert await after_three_turns(plugin) == ["Yes.", "three"]


async def test_a_filter_that_raises_leaves_the_request_unchanged(caplog):
    def broken(contents):
        raise ValueError("broken")

    texts = await after_three_turns(ContextFilterPlugin(custom_filter=broken))

    assert len(texts) == 5
    assert "custom_filter" in caplog.text


async def test_a_filter_that_returns_no_contents_is_an_error():
    with pytest.raises(RuntimeError, match="custom_filter returned NoneType"):
        await after_three_turns(ContextFilterPlugin(custom_filter=lambda _: None))


async def test_a_filter_may_return_any_iterable():
    plugin = ContextFilterPlugin(custom_filter=lambda contents: iter(contents[-1:]))

    assert await after_three_turns(plugin) == ["three"]


def look() -> str:
    """Look out."""
    return "rain"


async def test_tool_results_do_not_begin_a_turn():
    rules = [Rule(after="look", then=Say("Rain.")), Rule(then=Call("look"))]

    texts = await after_three_turns(ContextFilterPlugin(1), *rules, tools=[look])

    assert texts == ["three", "look()", "look={'result': 'rain'}"]


def test_remove_amount_must_be_at_least_one():
    with pytest.raises(ValueError, match="remove_amount"):
        ContextFilterPlugin(remove_amount=0)


# Global instruction


@pytest.mark.parametrize(
    "instruction", ["Speak {language}.", lambda context: f"Speak {context.state['language']}."]
)
async def test_a_global_instruction_comes_first(instruction):
    root = agent(instruction="Be brief.")
    plugin = GlobalInstructionPlugin(instruction)

    await Conversation(root, plugins=[plugin], state={"language": "Latin"}).say("Hi")

    instruction_text = root.model.requests[0].config.system_instruction
    assert instruction_text.startswith("Speak Latin.\n\n")
    assert "Be brief." in instruction_text


async def test_without_a_global_instruction_nothing_changes():
    root = agent(instruction="Be brief.")

    await Conversation(root, plugins=[GlobalInstructionPlugin()]).say("Hi")

    assert root.model.requests[0].config.system_instruction.startswith("Be brief.")


async def test_the_error_for_a_global_instruction_without_text_names_it():
    plugin = GlobalInstructionPlugin(lambda context: {"language": "Latin"})

    with pytest.raises(
        RuntimeError, match=r"'global_instruction'.*<lambda> \(.*must return a string"
    ):
        await Conversation(agent(), plugins=[plugin]).say("Hi")


# Logging


async def test_each_hook_is_logged_in_one_line(capsys):
    rules = [
        Rule(user="bad", then=Fail("QUOTA", "Come back.")),
        Rule(after="look", then=Say("Rain.\nLots.")),
        Rule(then=Call("look")),
    ]
    conversation = Conversation(agent(*rules, tools=[look]), plugins=[LoggingPlugin()])

    await conversation.say("Weather?")

    lines = capsys.readouterr().out.splitlines()
    heads = [line.removeprefix("[logging_plugin] ").split(" agent=")[0] for line in lines]
    assert heads[0].startswith("user message app=app user=user session=s")
    assert heads[2:4] == ["agent begins", "model request"]
    assert any("tool result tool=look" in line and line.endswith(": rain") for line in lines)
    assert any(line.endswith(": Rain. Lots.") for line in lines)
    assert heads[-1].startswith("run ends")


async def test_tool_errors_are_logged(capsys):
    root = agent(Rule(then=Call("broken")), tools=[broken])

    with pytest.raises(OSError, match="disk"):
        await Conversation(root, plugins=[LoggingPlugin("log")]).say("go")

    assert "[log] tool error tool=broken" in capsys.readouterr().out


def broken() -> None:
    """Fail."""
    raise OSError("disk full")


# Files


def upload(*blobs):
    parts = [types.Part(text="see"), *(types.Part(inline_data=blob) for blob in blobs)]
    return types.Content(role="user", parts=parts)


def png(name=None, data=b"png"):
    return types.Blob(data=data, mime_type="image/png", display_name=name)


async def test_files_of_a_message_become_artifacts():
    root = agent()
    conversation = Conversation(root, plugins=[SaveFilesAsArtifactsPlugin()])

    report, _ = await conversation.say(upload(png("cat.png"), png()))

    unnamed = f"artifact_{report.invocation_id}_2"
    assert report.actions.artifact_delta == {"cat.png": 0, unnamed: 0}
    assert texts(root.model.requests[0]) == [
        "see",
        '[Uploaded Artifact: "cat.png"]',
        f'[Uploaded Artifact: "{unnamed}"]',
    ]
    session = await conversation.session()
    assert not any(part.inline_data for part in session.events[0].content.parts)
    artifact = await conversation.runner.artifact_service.load_artifact(
        app_name="app", user_id="user", session_id="s", filename="cat.png"
    )
    assert artifact.inline_data.data == b"png"


async def test_a_file_that_is_too_large_is_replaced_with_a_note():
    root = agent()
    conversation = Conversation(root, plugins=[SaveFilesAsArtifactsPlugin()])

    [_] = await conversation.say(upload(png("big.png", bytes(MAX_BYTES + 1))))

    assert texts(root.model.requests[0])[1].startswith("[Upload Error: big.png has 20.00 MB;")


async def test_without_an_artifact_service_files_stay_in_the_message(caplog):
    root = agent()
    conversation = Conversation(root, plugins=[SaveFilesAsArtifactsPlugin()])
    conversation.runner.artifact_service = None

    await conversation.say(upload(png("cat.png")))

    assert root.model.requests[0].contents[0].parts[1].inline_data
    assert "artifact_service" in caplog.text


# Retries


class Flaky:
    """A tool that fails `failures` times, then works."""

    def __init__(self, failures):
        self.failures = failures
        self.__name__ = "flaky"

    def __call__(self) -> str:
        if self.failures:
            self.failures -= 1
            raise OSError("busy")
        return "worked"


def stubborn(tool):
    """Return an agent whose model calls its tool until it works or is told to give up."""
    rules = [
        Rule(after="flaky", calls=4, then=Say("{result}")),
        Rule(after="flaky", then=Call("flaky")),
        Rule(then=Call("flaky")),
    ]
    return agent(*rules, tools=[tool])


def responses(events):
    return [r.response for event in events for r in event.get_function_responses()]


async def test_a_model_may_correct_a_failed_call():
    conversation = Conversation(stubborn(Flaky(2)), plugins=[ReflectAndRetryToolPlugin()])

    first, second, third, _ = responses(await conversation.say("go"))

    assert (first["error_type"], first["error_details"]) == ("OSError", "busy")
    assert (first["retry_count"], second["retry_count"]) == (1, 2)
    assert "`flaky`" in first["reflection_guidance"]
    assert third == {"result": "worked"}


async def test_too_many_failures_end_the_run():
    plugin = ReflectAndRetryToolPlugin(max_retries=2)

    with pytest.raises(RuntimeError, match="busy") as error:
        await Conversation(stubborn(Flaky(9)), plugins=[plugin]).say("go")

    assert isinstance(error.value.__cause__, OSError)


async def test_after_too_many_failures_the_model_may_be_told_to_give_up():
    plugin = ReflectAndRetryToolPlugin(max_retries=1, throw_exception_if_retry_exceeded=False)

    events = await Conversation(stubborn(Flaky(9)), plugins=[plugin]).say("go")

    assert "Do not call `flaky` again" in responses(events)[1]["reflection_guidance"]
    assert "Do not call" in said(events[-1])


@pytest.mark.parametrize(
    ("scope", "count"), [(TrackingScope.INVOCATION, 1), (TrackingScope.GLOBAL, 2)]
)
async def test_failures_are_counted_per_run_or_globally(scope, count):
    plugin = ReflectAndRetryToolPlugin(tracking_scope=scope)
    root = agent(Rule(after="flaky", then=Say("so")), Rule(then=Call("flaky")), tools=[Flaky(2)])
    conversation = Conversation(root, plugins=[plugin])
    await conversation.say("go")

    [failure] = responses(await conversation.say("again"))

    assert failure["retry_count"] == count


@pytest.mark.parametrize("scope", [None, "invocation"])
async def test_an_invalid_tracking_scope_is_an_error(scope):
    plugin = ReflectAndRetryToolPlugin(tracking_scope=scope)
    root = agent(Rule(then=Call("flaky")), tools=[Flaky(2)])
    with pytest.raises(RuntimeError, match=r"`tracking_scope` is .*; pass a TrackingScope"):
        await Conversation(root, plugins=[plugin]).say("go")


class Reading(ReflectAndRetryToolPlugin):
    async def extract_error_from_result(self, *, tool, tool_args, tool_context, result):
        return result if result == "rain" else None


async def test_a_result_may_count_as_a_failure():
    root = agent(Rule(after="look", then=Say("so")), Rule(then=Call("look")), tools=[look])

    events = await Conversation(root, plugins=[Reading()]).say("go")

    [failure] = responses(events)
    assert (failure["error_type"], failure["error_details"]) == ("ToolError", "rain")
