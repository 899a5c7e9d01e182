"""Callbacks of agents and hooks of plugins: their order, and what the answer of each skips."""

from functools import partial
from typing import Any

from tests.differential.case import Case, add, case
from tests.differential.differing import END_INVOCATION
from tests.differential.differing_nodes import REFUSED_MESSAGE
from tests.differential.differing_sharing import SAME_AGENT
from tests.differential.script import Boom, Raise, Say, call, transfer

AGENT_HOOKS = (
    "before_agent",
    "after_agent",
    "before_model",
    "after_model",
    "on_model_error",
    "before_tool",
    "after_tool",
    "on_tool_error",
)
RUN_HOOKS = ("on_user_message", "before_run", "on_event", "after_run")
WATCHERS = ("on_agent_error", "on_run_error")
HOOKS = (*AGENT_HOOKS, *RUN_HOOKS)


def answer_of(stage, hook: str) -> Any:
    """Return the answer that a hook gives."""
    if hook in ("before_model", "after_model", "on_model_error"):
        return stage.ns.response(f"{hook} answers.")
    if hook.endswith(("_tool", "tool_error")):
        return {"from": hook}
    if hook == "on_event":
        return None
    return stage.ns.content(f"{hook} answers.")


def told(hook: str, values: dict[str, Any]) -> Any:
    """Return a short form of a hook's arguments."""
    for name in ("args", "tool_args", "tool_response", "result"):
        if name in values:
            return values[name]
    return type(values["error"]).__name__ if "error" in values else None


def callbacks(stage, answering: str | None = None, who: str = "agent") -> dict[str, Any]:
    """Return all callbacks of an agent; they note their calls, and `answering` also answers."""

    def made(hook):
        def callback(**values):
            stage.note(who, hook, told(hook, values))
            context = values.get("callback_context") or values["tool_context"]
            context.state[f"{who} {hook}"] = True
            return answer_of(stage, hook) if hook == answering else None

        return callback

    return {f"{hook}_callback": made(hook) for hook in AGENT_HOOKS}


def plugin(stage, name: str = "plugin", answering: str | None = None) -> Any:
    """Return a plugin with all hooks; they note their calls, and `answering` also answers."""

    def made(hook):
        async def method(self, **values):
            stage.note(name, hook, told(hook, values))
            context = values.get("callback_context") or values.get("tool_context")
            if context is not None:
                context.state[f"{name} {hook}"] = True
            return answer_of(stage, hook) if hook == answering else None

        return method

    hooks = {f"{hook}_callback": made(hook) for hook in (*HOOKS, *WATCHERS)}
    return type("Plugin", (stage.ns.BasePlugin,), hooks)(name=name)


def look() -> str:
    """Looks."""
    return "ok"


def fall() -> None:
    """Falls."""
    raise Boom("boom")


def _script(hook: str) -> list[Any]:
    """Return model answers that make the hook run."""
    if hook == "on_model_error":
        return [Raise(), "After."]
    return [call("fall" if hook == "on_tool_error" else "look"), "Done."]


async def _agent_hook(stage, hook, streamed=False):
    agent = stage.agent(
        "agent", *_script(hook), tools=[look, fall], output_key="said", **callbacks(stage, hook)
    )
    await stage.open(agent)
    await (stage.stream if streamed else stage.say)()
    await stage.say("again")


async def _plugin_hook(stage, hook):
    agent = stage.agent("agent", *_script(hook), tools=[look, fall], **callbacks(stage))
    await stage.open(agent, plugins=[plugin(stage, "one", hook), plugin(stage, "two")])
    await stage.say()


for _hook in AGENT_HOOKS:
    add(Case(f"the callback {_hook} of an agent answers", partial(_agent_hook, hook=_hook)))
    add(
        Case(
            f"the callback {_hook} of an agent answers, streamed",
            partial(_agent_hook, hook=_hook, streamed=True),
        )
    )
for _hook in HOOKS:
    add(Case(f"the hook {_hook} of a plugin answers", partial(_plugin_hook, hook=_hook)))


async def _observed(stage, answers, tools=(look, fall)):
    agent = stage.agent("agent", *answers, tools=list(tools), **callbacks(stage))
    await stage.open(agent, plugins=[plugin(stage, "one"), plugin(stage, "two")])
    await stage.say()


OBSERVED = {
    "a text": ["Hello."],
    "a tool call": [call("look"), "Done."],
    "two tool calls one after the other": [call("look"), call("look"), "Done."],
    "an unknown tool": [call("dream"), "Done."],
    "a failing tool": [call("fall"), "Never."],
    "a failing model": [Raise(), "Never."],
}
for _name, _answers in OBSERVED.items():
    add(Case(f"the order of all hooks around {_name}", partial(_observed, answers=_answers)))


async def _raising(stage, hook, in_plugin):
    def fail(**values):
        raise Boom(f"boom in {hook}")

    async def fail_async(self, **values):
        raise Boom(f"boom in {hook}")

    own_hooks, plugins = callbacks(stage), []
    if in_plugin:
        hooks = {f"{hook}_callback": fail_async}
        plugins = [type("Failing", (stage.ns.BasePlugin,), hooks)(name="failing")]
    else:
        own_hooks[f"{hook}_callback"] = fail
    await stage.open(
        stage.agent("agent", *_script(hook), tools=[look, fall], **own_hooks), plugins=plugins
    )
    await stage.say()


for _hook in AGENT_HOOKS:
    add(
        Case(
            f"the callback {_hook} of an agent raises",
            partial(_raising, hook=_hook, in_plugin=False),
        )
    )
for _hook in HOOKS:
    add(Case(f"the hook {_hook} of a plugin raises", partial(_raising, hook=_hook, in_plugin=True)))


# Lists of callbacks


async def _list(stage, hook, falsy):
    def made(index):
        def callback(**values):
            stage.note(hook, index)
            if index == 1:
                return answer_of(stage, hook)
            return falsy if index == 0 else None

        return callback

    fields = {f"{hook}_callback": [made(index) for index in range(3)]}
    await stage.open(stage.agent("agent", *_script(hook), tools=[look, fall], **fields))
    await stage.say()


for _hook in AGENT_HOOKS:
    add(
        Case(
            f"a list of {_hook} callbacks stops at an answer",
            partial(_list, hook=_hook, falsy=None),
        )
    )
for _hook in ("before_tool", "after_tool", "on_tool_error"):
    add(Case(f"an empty dict answers for {_hook}", partial(_list, hook=_hook, falsy={})))


@case()
async def callbacks_may_be_async_and_have_names_of_their_own(stage):
    async def before(context):
        stage.note("before", context.agent_name)

    def before_tool(what, arguments, where):
        stage.note("tool", what.name, arguments, where.agent_name)

    def after_tool(what, arguments, where, outcome):
        stage.note("after", outcome)

    await stage.open(
        stage.agent(
            "agent",
            call("look"),
            "Done.",
            tools=[look],
            before_agent_callback=before,
            before_tool_callback=before_tool,
            after_tool_callback=after_tool,
        )
    )
    await stage.say()


@case()
async def before_model_changes_the_request(stage):
    def before(callback_context, llm_request):
        llm_request.config.temperature = 0.25
        llm_request.contents.append(stage.ns.content("Case: one more", "user"))

    await stage.open(stage.agent("agent", "Ok.", "Ok.", before_model_callback=before))
    await stage.say()
    await stage.say("again")


@case()
async def after_model_changes_the_response_in_place(stage):
    def after(callback_context, llm_response):
        if llm_response.content:
            llm_response.content.parts[0].text += " (checked)"

    agent = stage.agent("agent", Say("One two", chunks=2), "Ok.", after_model_callback=after)
    await stage.open(agent)
    await stage.stream()
    await stage.say("again")


@case()
async def before_tool_changes_the_arguments(stage):
    def double(n: int) -> int:
        return 2 * n

    def before(tool, args, tool_context):
        args["n"] = 21

    await stage.open(
        stage.agent(
            "agent", call("double", n=1), "Ok.", tools=[double], before_tool_callback=before
        )
    )
    await stage.say()


@case()
async def after_tool_changes_the_result_in_place(stage):
    def find() -> dict[str, int]:
        return {"found": 1}

    def after(tool, args, tool_context, tool_response):
        tool_response["checked"] = True

    await stage.open(
        stage.agent("agent", call("find"), "Ok.", tools=[find], after_tool_callback=after)
    )
    await stage.say()


@case()
async def on_event_replaces_what_is_stored(stage):
    class Mask(stage.ns.BasePlugin):
        async def on_event_callback(self, *, invocation_context, event):
            if event.content and event.content.parts[0].text:
                return stage.ns.Event(
                    author=event.author, content=stage.ns.content("***"), custom_metadata={"m": 1}
                )
            return None

    agent = stage.agent("agent", Say("One two", chunks=2), "Ok.", output_key="said")
    await stage.open(agent, plugins=[Mask(name="mask")])
    await stage.stream()
    await stage.say("again")


@case()
async def on_event_changes_the_event_in_place(stage):
    class Mark(stage.ns.BasePlugin):
        async def on_event_callback(self, *, invocation_context, event):
            event.actions.state_delta["marked"] = event.author
            event.custom_metadata = {"mark": 1}

    await stage.open(stage.agent("agent", "Ok."), plugins=[Mark(name="mark")])
    await stage.say()


@case()
async def a_plugin_changes_the_users_message(stage):
    class Rewrite(stage.ns.BasePlugin):
        async def on_user_message_callback(self, *, invocation_context, user_message):
            return stage.ns.content(f"{user_message.parts[0].text}, please", "user")

    def look(tool_context) -> str:
        return tool_context.user_content.parts[0].text

    agent = stage.agent("agent", call("look"), "Ok.", tools=[look])
    await stage.open(agent, plugins=[Rewrite(name="rewrite")])
    await stage.say("go", yield_user_message=True)


@case(differs=END_INVOCATION)
async def before_agent_ends_the_invocation(stage):
    def before(callback_context):
        callback_context.get_invocation_context().end_invocation = True

    await stage.open(stage.agent("agent", "Never.", before_agent_callback=before))
    await stage.say()


@case(differs=END_INVOCATION)
async def a_tool_ends_the_invocation(stage):
    def stop(tool_context) -> str:
        tool_context.get_invocation_context().end_invocation = True
        return "stopped"

    agent = stage.agent("agent", call("stop"), "After all.", tools=[stop], **callbacks(stage))
    await stage.open(agent)
    await stage.say()


@case()
async def callbacks_of_nested_agents_are_called_around_each_other(stage):
    child = stage.agent("child", "Hi.", **callbacks(stage, who="child"))
    root = stage.agent(
        "root",
        call("transfer_to_agent", agent_name="child"),
        sub_agents=[child],
        **callbacks(stage, who="root"),
    )
    await stage.open(root)
    await stage.say()
    await stage.say("more")


@case()
async def callbacks_of_a_sequence_are_called_around_its_agents(stage):
    hooks = callbacks(stage, who="seq")
    around = {name: hooks[name] for name in ("before_agent_callback", "after_agent_callback")}
    agents = [
        stage.agent(name, f"{name} speaks.", **callbacks(stage, answering, name))
        for name, answering in (("one", None), ("two", "before_agent"), ("three", "after_agent"))
    ]
    root = stage.ns.SequentialAgent(name="seq", sub_agents=agents, **around)
    await stage.open(root, plugins=[plugin(stage)])
    await stage.say()


@case(differs=SAME_AGENT)
async def a_callback_changes_the_instruction_of_its_agent(stage):
    def add(callback_context):
        callback_context._invocation_context.agent.instruction += " And more."

    fields = {"instruction": "Be brief.", "before_agent_callback": add}
    agent = stage.agent("agent", "One.", "Two.", **fields)
    stage.words.update(["Be brief. And more.", "Be brief. And more. And more."])
    await stage.open(agent)
    await stage.say()
    await stage.say("again")
    stage.note(agent.instruction)


async def _message_refused(stage, root):
    class Watching(stage.ns.BasePlugin):
        async def on_user_message_callback(self, *, invocation_context, user_message):
            raise ValueError("No.")

        async def on_run_error_callback(self, *, invocation_context, error):
            stage.note("run failed", type(error).__name__)

    await stage.open(root, plugins=[Watching("watching")])
    await stage.say()


@case()
async def a_plugin_fails_on_the_users_message(stage):
    await _message_refused(stage, stage.agent("agent", "Hello."))


@case(differs=REFUSED_MESSAGE)
async def a_plugin_of_a_sequence_fails_on_the_users_message(stage):
    agents = [stage.agent("agent", "Hello.")]
    await _message_refused(stage, stage.ns.SequentialAgent(name="seq", sub_agents=agents))


@case()
async def callbacks_of_an_agent_in_a_sequence_that_hands_over(stage):
    child = stage.agent("child", "Hi.", **callbacks(stage, who="child"))
    one = stage.agent("one", transfer("child"), sub_agents=[child], **callbacks(stage, who="one"))
    two = stage.agent("two", "Hello.", **callbacks(stage, who="two"))
    root = stage.ns.SequentialAgent(name="seq", sub_agents=[one, two])
    await stage.open(root, plugins=[plugin(stage)])
    await stage.say()
