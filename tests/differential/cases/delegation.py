"""Agents that other agents' models call like functions: single-turn sub-agents and AgentTools."""

from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.differing_tasks import (
    ARGUMENTS_OF_TASKS,
    SINGLE_TURN_ARGUMENTS,
    SINGLE_TURN_BUDGET,
    SINGLE_TURN_CALLBACKS,
    SINGLE_TURN_ERRORS,
    SINGLE_TURN_ROOT,
    SINGLE_TURN_SILENCE,
)
from tests.differential.script import Boom, Call, Error, Raise, Say, call


class City(BaseModel):
    """A city."""

    name: str
    people: int | None = None


def look(tool_context: Any) -> str:
    """Looks, and remembers."""
    tool_context.state["seen"] = True
    tool_context.state["temp:seen"] = True
    return "ok"


async def save(tool_context) -> int:
    """Saves."""
    return await tool_context.save_artifact("f.txt", types.Part(text="t"))


def fall() -> None:
    """Falls."""
    raise Boom("boom")


ASK = call("expert", request="Tell me")
EXPERTS: dict[str, dict[str, Any]] = {
    "says something": {"answers": ["I know."]},
    "thinks and says two things": {"answers": [[Say("Hm.", thought=True), "One.", "Two."]]},
    "says nothing": {"answers": [""]},
    "only thinks": {"answers": [[Say("Hm.", thought=True)]]},
    "has an error": {"answers": [Error()]},
    "raises": {"answers": [Raise()]},
    "calls a tool": {"answers": [call("look"), "Seen."], "tools": [look]},
    "talks and calls a tool": {
        "answers": [["Wait.", call("look")], "Seen."],
        "tools": [look],
    },
    "saves a file": {"answers": [call("save"), "Saved."], "tools": [save]},
    "has a tool that raises": {"answers": [call("fall"), "Never."], "tools": [fall]},
    "calls an unknown tool": {"answers": [call("dream"), "Ok."], "tools": [look]},
    "keeps its words": {"answers": ["I know."], "output_key": "said"},
    "sees the state": {"answers": ["I know."], "instruction": "Case: {x}"},
    "has a shape": {"answers": ['{"name": "Bern", "people": 3}'], "output_schema": City},
    "has a shape and a key": {
        "answers": ['{"name": "Bern"}'],
        "output_schema": City,
        "output_key": "city",
    },
    "has a list as shape": {"answers": ['[{"name": "Bern"}]'], "output_schema": list[City]},
}
ALONE = {"disallow_transfer_to_parent": True, "disallow_transfer_to_peers": True}
DIFFERENT = {
    "says nothing": SINGLE_TURN_SILENCE,
    "only thinks": SINGLE_TURN_SILENCE,
    "has an error": SINGLE_TURN_SILENCE,
    "raises": SINGLE_TURN_ERRORS,
    "has a tool that raises": SINGLE_TURN_ERRORS,
    "a missing field": SINGLE_TURN_ERRORS,
    "a wrong type": SINGLE_TURN_ERRORS,
    "without the parameter": SINGLE_TURN_ARGUMENTS,
    "with callbacks": SINGLE_TURN_CALLBACKS,
    "beyond the budget": SINGLE_TURN_BUDGET,
}
"""Where single-turn sub-agents differ on purpose."""
AS = ("single_turn", "tool")


def _asking(stage: Any, how: str, expert: Any, *answers: Any, **fields: Any) -> Any:
    """Return an agent that can call the expert, as a tool or as a sub-agent."""
    if how == "tool":
        fields["tools"] = [*fields.get("tools", []), stage.ns.AgentTool(agent=expert)]
    else:
        fields["sub_agents"] = [expert]
    return stage.agent("agent", *answers, **fields)


def _expert(stage: Any, how: str, *answers: Any, name: str = "expert", **fields: Any) -> Any:
    if how == "single_turn":
        fields |= {"mode": "single_turn", **ALONE}
    return stage.agent(name, *answers, description="Knows.", **fields)


async def _consult(stage, how, setting, streamed=False):
    fields = dict(setting)
    expert = _expert(stage, how, *fields.pop("answers"), **fields)
    await stage.open(_asking(stage, how, expert, ASK, "Done.", "Next."), state={"x": 1})
    await (stage.stream if streamed else stage.say)("go")
    await stage.say("next")


for _how in AS:
    for _name, _setting in EXPERTS.items():
        _differs = DIFFERENT.get(_name) if _how == "single_turn" else None
        _play = partial(_consult, how=_how, setting=_setting)
        add(Case(f"an expert as {_how} {_name}", _play, _differs))
    for _name in ("says something", "calls a tool"):
        add(
            Case(
                f"an expert as {_how} {_name}, streamed",
                partial(_consult, how=_how, setting=EXPERTS[_name], streamed=True),
            )
        )

ARGUMENTS = {
    "all fields": {"name": "Rom", "people": 3},
    "a field less": {"name": "Rom"},
    "a field too many": {"name": "Rom", "size": 1},
    "a missing field": {"people": 3},
    "a wrong type": {"name": "Rom", "people": "many"},
}

DIFFERENT_TOOLS = dict.fromkeys(("a missing field", "a wrong type"), ARGUMENTS_OF_TASKS)


async def _arguments(stage, how, args):
    expert = _expert(stage, how, "Ok.", input_schema=City)
    await stage.open(_asking(stage, how, expert, Call("expert", args), "Done."))
    await stage.say()


for _how in AS:
    for _name, _args in ARGUMENTS.items():
        add(
            Case(
                f"an expert as {_how} with a schema gets {_name}",
                partial(_arguments, how=_how, args=_args),
                (DIFFERENT if _how == "single_turn" else DIFFERENT_TOOLS).get(_name),
            )
        )


async def _batch(stage, how):
    experts = [_expert(stage, how, f"{name} knows.", name=name) for name in ("one", "two")]
    batch = [call("one", request="a"), call("two", request="b")]
    if how == "tool":
        tools = [stage.ns.AgentTool(agent=each) for each in experts]
        agent = stage.agent("agent", batch, "Done.", tools=tools)
    else:
        agent = stage.agent("agent", batch, "Done.", sub_agents=experts)
    await stage.open(agent)
    await stage.say()


async def _twice(stage, how):
    expert = _expert(stage, how, "First.", "Second.")
    await stage.open(_asking(stage, how, expert, ASK, ASK, "Done."))
    await stage.say()


async def _twice_at_once(stage, how):
    expert = _expert(stage, how, "First.", "Second.")
    await stage.open(_asking(stage, how, expert, [ASK, ASK], "Done."))
    await stage.say()


async def _nested(stage, how):
    inner = _expert(stage, how, "Deep.", name="inner")
    ask = call("inner", request="Deeper")
    outer = stage.agent(
        "expert",
        ask,
        "I asked.",
        description="Asks.",
        **({"mode": "single_turn", **ALONE} if how == "single_turn" else {}),
        **(
            {"tools": [stage.ns.AgentTool(agent=inner)]}
            if how == "tool"
            else {"sub_agents": [inner]}
        ),
    )
    await stage.open(_asking(stage, how, outer, ASK, "Done.", "Next."))
    await stage.say()
    await stage.say("next")


async def _without_request(stage, how):
    expert = _expert(stage, how, "Ok.")
    await stage.open(_asking(stage, how, expert, Call("expert", {"what": "x"}), "Done."))
    await stage.say()


async def _after_talk(stage, how):
    expert = _expert(stage, how, "I know.", "I still know.")
    await stage.open(_asking(stage, how, expert, "Hello.", ASK, "Done.", ASK, "Again."))
    for word in ("a", "b", "c"):
        await stage.say(word)


async def _callbacks(stage, how):
    def before(callback_context):
        stage.note("before", callback_context.agent_name)
        callback_context.state["before"] = callback_context.agent_name

    def after(callback_context):
        stage.note("after", callback_context.agent_name)
        return stage.ns.content("One more thing.")

    expert = _expert(
        stage, how, "I know.", before_agent_callback=before, after_agent_callback=after
    )
    await stage.open(_asking(stage, how, expert, ASK, "Done."))
    await stage.say()


async def _answered_by_callback(stage, how):
    def before(callback_context):
        return stage.ns.content("Not today.")

    expert = _expert(stage, how, "Never.", before_agent_callback=before)
    await stage.open(_asking(stage, how, expert, ASK, "Done."))
    await stage.say()


async def _watched(stage, how):
    class Watch(stage.ns.BasePlugin):
        async def before_agent_callback(self, *, agent, callback_context):
            stage.note("agent", agent.name)

        async def before_run_callback(self, *, invocation_context):
            stage.note("run", invocation_context.agent.name)

        async def before_tool_callback(self, *, tool, tool_args, tool_context):
            stage.note("tool", tool.name, tool_args)

        async def on_event_callback(self, *, invocation_context, event):
            stage.note("event", event.author)

    expert = _expert(stage, how, call("look"), "Seen.", tools=[look])
    await stage.open(_asking(stage, how, expert, ASK, "Done."), plugins=[Watch(name="watch")])
    await stage.say()


async def _budget(stage, how):
    expert = _expert(stage, how, call("look"), call("look"), "Seen.", tools=[look])
    await stage.open(_asking(stage, how, expert, ASK, "Done."))
    await stage.say(run_config=stage.ns.RunConfig(max_llm_calls=2))


async def _labels(stage, how):
    expert = _expert(stage, how, "I know.")
    await stage.open(_asking(stage, how, expert, ASK, "Done."))
    await stage.say(run_config=stage.ns.RunConfig(custom_metadata={"job": 7}))


async def _beside_tool(stage, how):
    expert = _expert(stage, how, "I know.")
    answers = [call("look"), ASK], "Done."
    await stage.open(_asking(stage, how, expert, *answers, tools=[look]))
    await stage.say()


VARIANTS = {
    "in a batch with another": _batch,
    "called twice": _twice,
    "called twice at once": _twice_at_once,
    "with an expert of its own": _nested,
    "without the parameter": _without_request,
    "after some talk": _after_talk,
    "with callbacks": _callbacks,
    "answered by a callback": _answered_by_callback,
    "watched by a plugin": _watched,
    "beyond the budget": _budget,
    "in a run with labels": _labels,
    "beside a tool": _beside_tool,
}
for _how in AS:
    for _name, _play in VARIANTS.items():
        _differs = DIFFERENT.get(_name) if _how == "single_turn" else None
        add(Case(f"an expert as {_how} {_name}", partial(_play, how=_how), _differs))


# Cases for one of the two ways only


@case(differs=SINGLE_TURN_ROOT)
async def a_single_turn_agent_as_root(stage):
    agent = stage.agent("agent", call("look"), "One.", "Two.", mode="single_turn", tools=[look])
    await stage.open(agent)
    await stage.say("a")
    await stage.say("b")


async def _tool(stage, answers, **how):
    tool = stage.ns.AgentTool(agent=stage.agent("expert", *answers), **how)
    await stage.open(stage.agent("agent", ASK, "Done.", "Next.", tools=[tool]))
    await stage.say()
    await stage.say("next")


add(
    Case(
        "an agent as tool without the plugins",
        partial(_tool, answers=["I know."], include_plugins=False),
    )
)
add(
    Case(
        "an agent as tool ends the turn with two parts",
        partial(_tool, answers=[["One.", "Two."]], skip_summarization=True),
    )
)


@case()
async def plugins_do_not_see_an_agent_as_tool_that_leaves_them_out(stage):
    class Watch(stage.ns.BasePlugin):
        async def before_agent_callback(self, *, agent, callback_context):
            stage.note("agent", agent.name)

    tool = stage.ns.AgentTool(agent=stage.agent("expert", "I know."), include_plugins=False)
    agent = stage.agent("agent", ASK, "Done.", tools=[tool])
    await stage.open(agent, plugins=[Watch(name="watch")])
    await stage.say()


@case()
async def an_agent_as_tool_waits_for_an_answer(stage):
    def wait() -> None:
        """Waits."""

    expert = stage.agent("expert", call("wait"), tools=[stage.ns.LongRunningFunctionTool(wait)])
    tool = stage.ns.AgentTool(agent=expert)
    await stage.open(stage.agent("agent", ASK, "Done.", tools=[tool]))
    await stage.say()


@case()
async def an_agent_as_tool_reads_and_writes_files_of_its_caller(stage):
    async def read(tool_context) -> Any:
        """Reads."""
        names = await tool_context.list_artifacts()
        part = await tool_context.load_artifact("f.txt")
        return {"names": names, "text": part.text if part else None}

    expert = stage.agent("expert", call("read"), call("save"), "Ok.", tools=[read, save])
    tool = stage.ns.AgentTool(agent=expert)
    agent = stage.agent("agent", call("save"), ASK, call("read"), "Done.", tools=[tool, save, read])
    await stage.open(agent)
    await stage.say()


@case()
async def an_agent_as_tool_writes_all_scopes_of_state(stage):
    def write(tool_context) -> Any:
        """Writes."""
        for key in ("a", "user:a", "app:a", "temp:a"):
            tool_context.state[key] = 1
        tool_context.state["_adk_own"] = 1
        return sorted(tool_context.state.to_dict())

    tool = stage.ns.AgentTool(agent=stage.agent("expert", call("write"), "Ok.", tools=[write]))
    agent = stage.agent("agent", call("write"), ASK, "Done.", tools=[tool, write])
    await stage.open(agent, state={"b": 1, "user:b": 1, "_adk_x": 1})
    await stage.say()


@case()
async def a_loop_is_a_tool(stage):
    agents = [stage.agent("one", "A.", "B.", output_key="last")]
    expert = stage.ns.LoopAgent(name="expert", max_iterations=2, sub_agents=agents)
    tool = stage.ns.AgentTool(agent=expert)
    await stage.open(stage.agent("agent", ASK, "Done.", tools=[tool]))
    await stage.say()
