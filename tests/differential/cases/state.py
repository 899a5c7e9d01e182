"""State: every scope, written from every place."""

from functools import partial
from typing import Any

from tests.differential.case import Case, add, case
from tests.differential.differing_state import NO_NAN, OLD_DELTAS
from tests.differential.script import Boom, call

SCOPES = {"session": "x", "user": "user:x", "app": "app:x", "temp": "temp:x"}
PLACES = (
    "a tool",
    "before_agent",
    "after_agent",
    "before_model",
    "after_model",
    "before_tool",
    "after_tool",
    "the message",
    "an event",
    "the initial state",
)


def _writing(stage, place: str, key: str) -> dict[str, Any]:
    def write(callback_context=None, tool_context=None, **_):
        context = callback_context or tool_context
        stage.note(place, context.state.get(key))
        context.state[key] = {"by": place}

    if place in ("before_agent", "after_agent"):
        return {f"{place}_callback": lambda callback_context: write(callback_context)}
    if place in ("before_model", "after_model", "before_tool", "after_tool"):
        return {f"{place}_callback": write}
    return {}


async def _write(stage, place, key):
    def work(tool_context) -> Any:
        if place == "a tool":
            tool_context.state[key] = {"by": place}
        return tool_context.state.get(key)

    async def body(ctx):
        delta = stage.ns.actions(state_delta={key: {"by": place}})
        yield stage.ns.event(
            "custom", "Wrote.", actions=delta, invocation_id=ctx.invocation_id, branch=ctx.branch
        )
        stage.note("after the yield", ctx.session.state.get(key))

    agent = stage.agent("agent", call("work"), "Done.", tools=[work], **_writing(stage, place, key))
    root = stage.custom("custom", body) if place == "an event" else agent
    initial = {key: {"by": place}} if place == "the initial state" else {}
    await stage.open(root, state=initial | {"kept": 1, "user:kept": 2, "app:kept": 3})
    delta = {key: {"by": place}} if place == "the message" else None
    await stage.say("go", state_delta=delta)
    await stage.new_session("s2")
    await stage.say("and there?", session="s2")


for _place in PLACES:
    for _scope, _key in SCOPES.items():
        add(Case(f"{_place} writes {_scope} state", partial(_write, place=_place, key=_key)))


@case()
async def uncommitted_changes_are_seen_by_later_code(stage):
    def before(callback_context):
        callback_context.state["a"] = 1

    def look(tool_context) -> Any:
        seen = dict(tool_context.state.to_dict())
        tool_context.state["b"] = 2
        return seen

    agent = stage.agent(
        "agent", call("look"), call("look"), "Done.", tools=[look], before_agent_callback=before
    )
    await stage.open(agent)
    await stage.say()


@case()
async def a_failing_run_loses_what_no_event_carried(stage):
    def look(tool_context) -> None:
        tool_context.state["lost"] = True
        raise Boom("boom")

    await stage.open(stage.agent("agent", call("look"), "Ok.", tools=[look]))
    await stage.say()
    await stage.say("again")


@case()
async def a_change_in_place_is_recorded(stage):
    def change(tool_context) -> None:
        tool_context.state["list"].append(2)
        tool_context.state["dict"]["b"] = {"c": 1}
        tool_context.state.get("untouched")

    agent = stage.agent("agent", call("change"), "Ok.", tools=[change])
    await stage.open(agent, state={"list": [1], "dict": {"a": 1}, "untouched": [0]})
    await stage.say()


@case()
async def state_offers_the_methods_of_a_mapping(stage):
    def use(tool_context) -> dict[str, Any]:
        state = tool_context.state
        state.update({"a": 1, "user:b": 2})
        seen = {
            "in": ["a" in state, "zz" in state],
            "get": [state.get("zz"), state.get("zz", 5)],
            "default": [state.setdefault("a", 9), state.setdefault("c", 3)],
            "dict": state.to_dict(),
            "delta": state.has_delta(),
        }
        try:
            state["zz"]
        except KeyError as error:
            seen["missing"] = str(error)
        return seen

    await stage.open(stage.agent("agent", call("use"), "Ok.", tools=[use]), state={"old": 0})
    await stage.say()


@case()
async def none_stays_as_a_value(stage):
    def clear(tool_context) -> Any:
        tool_context.state["x"] = None
        return "x" in tool_context.state

    await stage.open(stage.agent("agent", call("clear"), "Ok.", tools=[clear]), state={"x": 1})
    await stage.say()


@case()
async def temporary_state_lives_as_long_as_the_invocation(stage):
    def write(tool_context) -> Any:
        tool_context.state["temp:x"] = 1
        return None

    def read(tool_context) -> Any:
        return tool_context.state.get("temp:x", "gone")

    answers = [call("write"), call("read"), "Ok.", call("read"), "Ok."]
    await stage.open(stage.agent("agent", *answers, tools=[write, read]))
    await stage.say()
    await stage.say("again")


@case()
async def writing_past_the_context_is_not_stored(stage):
    async def body(ctx):
        ctx.session.state["direct"] = 1
        yield stage.ns.event("custom", "Hi.", invocation_id=ctx.invocation_id)
        stage.note(ctx.session.state.get("direct"))

    await stage.open(stage.custom("custom", body))
    await stage.say()


@case()
async def partial_events_change_nothing(stage):
    async def body(ctx):
        actions = stage.ns.actions(state_delta={"x": 1})
        yield stage.ns.event(
            "custom", "Hi", actions=actions, partial=True, invocation_id=ctx.invocation_id
        )
        stage.note(ctx.session.state.get("x"))
        yield stage.ns.event("custom", "Hi.", invocation_id=ctx.invocation_id)

    await stage.open(stage.custom("custom", body))
    await stage.say()


@case()
async def output_key_keeps_all_that_was_said(stage):
    def look() -> str:
        return "ok"

    answers = [["First. ", call("look")], ["Second. ", call("look")], "Third."]
    await stage.open(stage.agent("agent", *answers, tools=[look], output_key="said"))
    await stage.say()
    await stage.say("again")


@case()
async def output_key_in_other_scopes(stage):
    agents = [
        stage.agent(f"a{i}", f"said {i}", output_key=key)
        for i, key in enumerate(("user:said", "app:said", "temp:said"))
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say()


@case(differs=OLD_DELTAS)
async def a_list_grows_after_its_commit(stage):
    def grow(tool_context, word: str) -> None:
        tool_context.state.setdefault("words", []).append(word)

    calls = [call("grow", word=word) for word in ("one", "two")]
    await stage.open(stage.agent("agent", *calls, "Done.", tools=[grow]))
    await stage.say()


@case(differs=NO_NAN)
async def a_number_of_the_state_is_none(stage):
    def measure(tool_context) -> None:
        tool_context.state["share"] = float("nan")

    await stage.open(stage.agent("agent", call("measure"), "Done.", tools=[measure]))
    await stage.say()
    session = await stage.runner.session_service.get_session(
        app_name="app", user_id="u", session_id="s"
    )
    stage.note(str(session.state["share"]))


async def _noted_in_place(stage, hook):
    def note(**values):
        values["callback_context"].state["seen"].append(hook)

    await stage.open(
        stage.agent("agent", "Hello.", "Hello again.", **{f"{hook}_callback": note}),
        state={"seen": []},
    )
    await stage.say()
    await stage.stream("again")


for _hook in ("before_model", "after_model", "before_agent", "after_agent"):
    add(Case(f"{_hook} changes state in place", partial(_noted_in_place, hook=_hook)))
