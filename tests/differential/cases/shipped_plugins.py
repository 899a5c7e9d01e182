"""The plugins that come with the runtime, and how plugins and callbacks interact."""

from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.cases.callbacks import HOOKS, answer_of, callbacks, plugin
from tests.differential.differing import FRAGMENTS_IN_STEP
from tests.differential.script import Boom, Raise, Say, call


def look() -> str:
    """Looks."""
    return "ok"


# The context filter


async def _filtered(stage, turns, removed, tools):
    answers: list[Any] = []
    for turn in range(7):
        answers += [call("look"), f"Answer {turn}."] if tools and turn % 2 else [f"Answer {turn}."]
    plugin = stage.ns.ContextFilterPlugin(num_invocations_to_keep=turns, remove_amount=removed)
    await stage.open(stage.agent("agent", *answers, tools=[look]), plugins=[plugin])
    for turn in range(7):
        await stage.say(f"turn {turn}")


for _kept in (0, 1, 3):
    for _removed in (1, 2):
        for _tools in (False, True):
            _with = " with tools" if _tools else ""
            add(
                Case(
                    f"a filter keeps {_kept} turns{_with} and leaves out {_removed} at once",
                    partial(_filtered, turns=_kept, removed=_removed, tools=_tools),
                )
            )


async def _custom_filter(stage, fails):
    def shorten(contents):
        if fails:
            raise Boom("boom")
        return contents[-1:]

    plugin = stage.ns.ContextFilterPlugin(num_invocations_to_keep=2, custom_filter=shorten)
    await stage.open(stage.agent("agent", *"ABCD"), plugins=[plugin])
    for turn in range(4):
        await stage.say(f"turn {turn}")


add(Case("a filter of ones own", partial(_custom_filter, fails=False)))
add(Case("a filter of ones own raises", partial(_custom_filter, fails=True)))


@case()
async def a_filter_and_a_long_running_call(stage):
    def wait() -> None:
        """Waits."""

    tool = stage.ns.LongRunningFunctionTool(wait)
    plugin = stage.ns.ContextFilterPlugin(num_invocations_to_keep=1)
    await stage.open(
        stage.agent("agent", "One.", call("wait"), "Two.", "Three.", tools=[tool]),
        plugins=[plugin],
    )
    await stage.say("a")
    await stage.say("b")
    await stage.say("c")
    await stage.say(stage.answer(stage.call("wait"), result="done"))


# The global instruction


async def _instructed(stage, instruction, fields):
    plugin = stage.ns.GlobalInstructionPlugin(global_instruction=instruction)
    agent = stage.agent("agent", "Ok.", "Next.", **fields)
    await stage.open(agent, plugins=[plugin], state={"who": "us"})
    await stage.say()
    await stage.say("next")


def _told(context: Any) -> str:
    return f"Case: {context.state['who']} {{who}}"


async def _told_later(context: Any) -> str:
    return _told(context)


INSTRUCTIONS = {
    "a template": "Case: for {who}",
    "a missing variable": "Case: for {nobody}",
    "an optional variable": "Case: for {nobody?}.",
    "a function": _told,
    "an async function": _told_later,
    "nothing": "",
}
AGENTS: dict[str, dict[str, Any]] = {
    "no instruction": {},
    "an instruction": {"instruction": "Case: own"},
    "a static instruction": {"static_instruction": "Case: static", "instruction": "Case: own"},
}
for _name, _instruction in INSTRUCTIONS.items():
    for _agent, _fields in AGENTS.items():
        add(
            Case(
                f"{_name} for all agents, and {_agent}",
                partial(_instructed, instruction=_instruction, fields=_fields),
            )
        )


# Retried tools


async def _flaky(stage, failures, retries, throws):
    remaining = [failures]

    async def flaky(a: int = 0) -> str:
        """Fails some times."""
        remaining[0] -= 1
        if remaining[0] >= 0:
            raise Boom("boom")
        return "fine"

    plugin = stage.ns.ReflectAndRetryToolPlugin(
        max_retries=retries, throw_exception_if_retry_exceeded=throws
    )
    answers = [call("flaky", a=i) for i in range(4)]
    await stage.open(stage.agent("agent", *answers, "Done.", tools=[flaky]), plugins=[plugin])
    await stage.say()


for _failures in (1, 2, 4):
    for _retries in (0, 1, 2):
        for _throws in (False, True):
            _end = "an exception" if _throws else "advice"
            add(
                Case(
                    f"a tool fails {_failures} times, {_retries} may be tried again, then {_end}",
                    partial(_flaky, failures=_failures, retries=_retries, throws=_throws),
                )
            )


@case()
async def results_that_tell_of_errors_are_tried_again(stage):
    class Strict(stage.ns.ReflectAndRetryToolPlugin):
        async def extract_error_from_result(self, *, tool, tool_args, tool_context, result):
            return "boom" if result.get("status") == "bad" else None

    def check(n: int) -> dict[str, str]:
        """Checks."""
        return {"status": "bad" if n < 2 else "good"}

    answers = call("check", n=0), call("check", n=1), call("check", n=2), "Done."
    await stage.open(stage.agent("agent", *answers, tools=[check]), plugins=[Strict()])
    await stage.say()


@case()
async def two_tools_are_tried_again_apart(stage):
    def one() -> None:
        """One."""
        raise Boom("boom one")

    def two() -> None:
        """Two."""
        raise Boom("boom two")

    plugin = stage.ns.ReflectAndRetryToolPlugin(max_retries=2)
    answers = call("one"), call("two"), call("one"), call("two"), "Done."
    await stage.open(stage.agent("agent", *answers, tools=[one, two]), plugins=[plugin])
    await stage.say()


# Plugins and callbacks together


async def _both_answer(stage, hook):
    """If a plugin answers, the agent's callbacks of that kind aren't called."""
    tool = "fall" if hook == "on_tool_error" else "look"
    script = [Raise(), "After."] if hook == "on_model_error" else [call(tool), "Done."]

    def fall() -> None:
        """Falls."""
        raise Boom("boom")

    agent = stage.agent("agent", *script, tools=[look, fall], **callbacks(stage, hook))
    plugins = [plugin(stage, "one"), plugin(stage, "two", hook), plugin(stage, "three", hook)]
    await stage.open(agent, plugins=plugins)
    await stage.say()


for _hook in HOOKS:
    add(Case(f"plugins and callbacks answer in {_hook}", partial(_both_answer, hook=_hook)))


@case(differs=FRAGMENTS_IN_STEP)
async def plugins_see_fragments(stage):
    await stage.open(stage.agent("agent", Say("One two.", chunks=4)), plugins=[plugin(stage)])
    await stage.stream()


async def _several(stage, hook, which):
    """Of three callbacks, the one at `which` answers; later ones aren't called."""

    def made(index):
        def callback(**values):
            stage.note(hook, index)
            context = values.get("callback_context") or values["tool_context"]
            context.state[f"{hook} {index}"] = True
            return answer_of(stage, hook) if index == which else None

        async def later(**values):
            return callback(**values)

        return later if index % 2 else callback

    def fall() -> None:
        """Falls."""
        raise Boom("boom")

    tool = "fall" if hook == "on_tool_error" else "look"
    script = [Raise(), "After."] if hook == "on_model_error" else [call(tool), "Done."]
    fields = {f"{hook}_callback": [made(index) for index in range(3)]}
    await stage.open(stage.agent("agent", *script, tools=[look, fall], **fields))
    await stage.say()


for _hook in (
    "before_agent",
    "after_agent",
    "before_model",
    "after_model",
    "on_model_error",
    "before_tool",
    "after_tool",
    "on_tool_error",
):
    for _which in (0, 2, None):
        _who = "nobody" if _which is None else f"number {_which}"
        add(
            Case(
                f"of three {_hook} callbacks {_who} answers",
                partial(_several, hook=_hook, which=_which),
            )
        )


FALSY: dict[str, Any] = {
    "an empty content": types.Content(role="model", parts=[]),
    "an empty text": "",
    "nothing": None,
    "zero": 0,
    "false": False,
}


async def _falsy(stage, hook, value):
    def callback(**values):
        stage.note(hook)
        return value

    agent = stage.agent(
        "agent", call("look"), "Done.", tools=[look], **{f"{hook}_callback": callback}
    )
    await stage.open(agent)
    await stage.say()


for _hook in ("before_agent", "after_agent", "before_model", "after_model"):
    for _name, _value in FALSY.items():
        if isinstance(_value, types.Content) and _hook.endswith("model"):
            continue
        add(Case(f"{_hook} answers with {_name}", partial(_falsy, hook=_hook, value=_value)))


# Files in messages


async def _files(stage, parts, **how):
    plugin = stage.ns.SaveFilesAsArtifactsPlugin(**how)
    agent = stage.agent("agent", "Nice.", "Next.", tools=[stage.ns.load_artifacts_tool])
    await stage.open(agent, plugins=[plugin])
    await stage.say(parts)
    await stage.say("next")


def _blob(name: str | None, data: bytes = b"data", mime: str = "text/plain") -> types.Part:
    return types.Part(inline_data=types.Blob(data=data, mime_type=mime, display_name=name))


@case()
async def a_plugin_answers_for_a_failing_tool_in_a_stream(stage):
    def fall() -> None:
        """Falls."""
        raise Boom("boom")

    plugin = stage.ns.ReflectAndRetryToolPlugin(max_retries=2)
    answers = [Say("I try.", chunks=2), call("fall")], Say("It fails.", chunks=2)
    await stage.open(stage.agent("agent", *answers, tools=[fall]), plugins=[plugin])
    await stage.stream()


@case()
async def two_plugins_of_one_name_are_refused(stage):
    agent = stage.agent("agent", "Ok.")
    try:
        await stage.open(agent, plugins=[plugin(stage, "one"), plugin(stage, "one")])
    except ValueError as error:
        stage.note(type(error).__name__)


@case()
async def a_plugin_that_watches_errors_raises_itself(stage):
    class Broken(stage.ns.BasePlugin):
        async def on_agent_error_callback(self, *, agent, callback_context, error):
            stage.note("agent error", agent.name, type(error).__name__)
            raise Boom("boom in the watcher")

        async def on_run_error_callback(self, *, invocation_context, error):
            stage.note("run error", type(error).__name__)
            raise Boom("boom in the watcher")

    agent = stage.agent("agent", Raise())
    await stage.open(agent, plugins=[Broken(name="broken"), plugin(stage)])
    await stage.say()


@case()
async def a_plugin_removes_nothing_by_returning_the_same(stage):
    class Same(stage.ns.BasePlugin):
        async def on_event_callback(self, *, invocation_context, event):
            return event

        async def after_model_callback(self, *, callback_context, llm_response):
            return llm_response

        async def on_user_message_callback(self, *, invocation_context, user_message):
            return user_message

    agent = stage.agent("agent", call("look"), "Done.", tools=[look], output_key="said")
    await stage.open(agent, plugins=[Same(name="same")])
    await stage.stream()


@case()
async def a_plugin_answers_for_the_run_of_a_sequence(stage):
    class Answering(stage.ns.BasePlugin):
        async def before_run_callback(self, *, invocation_context):
            return stage.ns.content("Closed today.")

    agents = [stage.agent("a", "A."), stage.agent("b", "B.")]
    root = stage.ns.SequentialAgent(name="seq", sub_agents=agents)
    await stage.open(root, plugins=[Answering(name="answering"), plugin(stage)])
    await stage.say()
