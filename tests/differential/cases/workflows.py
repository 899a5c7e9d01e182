"""Sequential, loop, parallel and custom agents, alone and nested."""

import asyncio
from functools import partial
from typing import Any

from tests.differential.case import Case, add, case
from tests.differential.differing import UNSIGNED_EVENTS, USER_MESSAGE
from tests.differential.differing_nodes import ERRORS_IN_WORKFLOWS
from tests.differential.differing_resume import PAUSED_WORKFLOW
from tests.differential.differing_state import FILES_OF_MESSAGES
from tests.differential.script import Boom, Raise, Say, call


def look() -> str:
    """Looks."""
    return "ok"


def fall() -> None:
    """Falls."""
    raise Boom("boom")


@case()
async def a_sequence_of_agents(stage):
    agents = [stage.agent(name, f"{name} speaks.", output_key=name) for name in ("a", "b", "c")]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say()
    await stage.say("again")


@case()
async def a_sequence_hands_results_on_by_state(stage):
    agents = [
        stage.agent("writer", "A draft.", instruction="Case: write", output_key="draft"),
        stage.agent("critic", "Too short.", instruction="Case: judge {draft}", output_key="note"),
        stage.agent("editor", "A text.", instruction="Case: mend {draft} for {note} {more?}"),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say()


@case()
async def a_sequence_ignores_escalation(stage):
    agents = [stage.speaker("a", "up", escalate=True), stage.speaker("b", "on")]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say()


@case()
async def a_sequence_without_agents(stage):
    await stage.open(stage.ns.SequentialAgent(name="seq"))
    await stage.say()


async def _failing(stage, how):
    answers = {"model": [Raise()], "tool": [call("fall")]}[how]
    agents = [
        stage.agent("a", "Fine."),
        stage.agent("b", *answers, tools=[fall]),
        stage.agent("c", "Never."),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say()
    await stage.say("again")


for _how in ("model", "tool"):
    add(
        Case(
            f"an agent of a sequence fails in its {_how}",
            partial(_failing, how=_how),
            differs=ERRORS_IN_WORKFLOWS,
        )
    )


@case()
async def a_custom_agent_raises(stage):
    async def body(ctx):
        yield stage.ns.event("custom", "Hi.", invocation_id=ctx.invocation_id)
        raise Boom("boom")

    await stage.open(stage.custom("custom", body))
    await stage.say()
    await stage.say("again")


@case()
async def a_loop_counts_its_rounds(stage):
    def count(tool_context) -> int:
        tool_context.state["n"] = tool_context.state.get("n", 0) + 1
        return tool_context.state["n"]

    agent = stage.agent("a", *[[call("count")], "Counted."] * 3, tools=[count])
    await stage.open(stage.ns.LoopAgent(name="loop", max_iterations=3, sub_agents=[agent]))
    await stage.say()


@case()
async def a_loop_ends_when_an_agent_escalates(stage):
    agents = [
        stage.speaker("a", "one"),
        stage.speaker("b", "two", escalate=True),
        stage.speaker("c", "never"),
    ]
    await stage.open(stage.ns.LoopAgent(name="loop", max_iterations=5, sub_agents=agents))
    await stage.say()


@case()
async def an_escalating_agent_of_a_loop_finishes_first(stage):
    async def body(ctx):
        up = stage.ns.actions(escalate=True)
        yield stage.ns.event("a", "up", actions=up, invocation_id=ctx.invocation_id)
        yield stage.ns.event("a", "still here", invocation_id=ctx.invocation_id)

    agents = [stage.custom("a", body), stage.speaker("b", "never")]
    await stage.open(stage.ns.LoopAgent(name="loop", max_iterations=2, sub_agents=agents))
    await stage.say()


@case()
async def exit_loop_ends_a_loop(stage):
    writer = stage.agent("writer", "One.", "Two.", "Three.")
    critic = stage.agent("critic", "More.", call("exit_loop"), tools=[stage.ns.exit_loop])
    loop = stage.ns.LoopAgent(name="loop", max_iterations=5, sub_agents=[writer, critic])
    after = stage.agent("after", "The end.")
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=[loop, after]))
    await stage.say()


@case()
async def a_loop_of_no_rounds(stage):
    agents = [stage.speaker("a", "never")]
    await stage.open(stage.ns.LoopAgent(name="loop", max_iterations=0, sub_agents=agents))
    await stage.say()


@case(unordered=True)
async def agents_side_by_side(stage):
    agents = [
        stage.agent(name, [Say(f"{name} looks."), call("look")], f"{name} done.", tools=[look])
        for name in ("a", "b", "c")
    ]
    await stage.open(stage.ns.ParallelAgent(name="par", sub_agents=agents))
    await stage.say()


@case(unordered=True)
async def agents_side_by_side_do_not_hear_each_other(stage):
    agents = [stage.agent(n, f"{n} one.", f"{n} two.", output_key=n) for n in ("a", "b")]
    after = stage.agent("after", "I heard all.", "Again.")
    par = stage.ns.ParallelAgent(name="par", sub_agents=agents)
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=[par, after]))
    await stage.say()
    await stage.say("again")


@case()
async def an_agent_that_escalates_stops_its_neighbors(stage):
    async def wait(ctx):
        yield stage.ns.event("b", "waiting", invocation_id=ctx.invocation_id, branch=ctx.branch)
        await asyncio.Event().wait()

    async def escalate(ctx):
        for _ in range(50):  # until the other has spoken
            await asyncio.sleep(0)
        up = stage.ns.actions(escalate=True)
        yield stage.ns.event(
            "a", "up", actions=up, invocation_id=ctx.invocation_id, branch=ctx.branch
        )

    agents = [stage.custom("a", escalate), stage.custom("b", wait)]
    await stage.open(stage.ns.ParallelAgent(name="par", sub_agents=agents))
    await stage.say()


@case()
async def an_agent_that_raises_stops_its_neighbors(stage):
    async def wait(ctx):
        yield stage.ns.event("b", "waiting", invocation_id=ctx.invocation_id, branch=ctx.branch)
        await asyncio.Event().wait()

    async def fail(ctx):
        for _ in range(50):
            await asyncio.sleep(0)
        raise Boom("boom")
        yield

    agents = [stage.custom("a", fail), stage.custom("b", wait)]
    await stage.open(stage.ns.ParallelAgent(name="par", sub_agents=agents))
    await stage.say()


@case()
async def parallel_agents_without_agents(stage):
    await stage.open(stage.ns.ParallelAgent(name="par"))
    await stage.say()


@case()
async def a_custom_agent_runs_others_by_condition(stage):
    first = stage.agent("first", "negative", output_key="mood")
    good, bad = stage.agent("good", "Keep it."), stage.agent("bad", "Write anew.")

    async def body(ctx):
        async for event in first.run_async(ctx):
            yield event
        branch = bad if ctx.session.state["mood"] == "negative" else good
        async for event in branch.run_async(ctx):
            yield event

    root = stage.ns.Custom(name="root", body=body, sub_agents=[first, good, bad])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case()
async def a_custom_agent_sees_what_it_yielded(stage):
    async def body(ctx):
        seen = len(ctx.session.events)
        actions = stage.ns.actions(state_delta={"x": 1})
        yield stage.ns.event("custom", "One.", actions=actions, invocation_id=ctx.invocation_id)
        stage.note(len(ctx.session.events) - seen, ctx.session.state.get("x"))
        yield stage.ns.event("custom", "Two.", invocation_id=ctx.invocation_id)
        stage.note(len(ctx.session.events) - seen)

    await stage.open(stage.custom("custom", body))
    await stage.say()


@case()
async def a_custom_agent_saves_an_artifact(stage):
    types = stage.ns.types

    async def save(tool_context, text: str) -> int:
        part = types.Part(text=text)
        return await tool_context.save_artifact("note.txt", part)

    async def load(tool_context) -> list[Any]:
        names = await tool_context.list_artifacts()
        part = await tool_context.load_artifact("note.txt")
        first = await tool_context.load_artifact("note.txt", version=0)
        nothing = await tool_context.load_artifact("nothing.txt")
        return [names, part.text, first.text, nothing]

    batch = [call("save", text="one"), call("load"), "Ok."]
    answers = batch[0], call("save", text="two"), call("load"), "Ok."
    await stage.open(stage.agent("agent", *answers, tools=[save, load]))
    await stage.say()


@case()
async def artifacts_of_a_user(stage):
    types = stage.ns.types

    async def save(tool_context) -> int:
        blob = types.Blob(data=b"\x01", mime_type="image/png")
        return await tool_context.save_artifact("user:face.png", types.Part(inline_data=blob))

    async def after(callback_context):
        await callback_context.save_artifact("end.txt", types.Part(text="end"))

    agent = stage.agent("agent", call("save"), "Ok.", tools=[save], after_agent_callback=after)
    await stage.open(agent)
    await stage.say()


@case()
async def include_contents_none_sees_the_turn_alone(stage):
    agents = [
        stage.agent("a", "A one.", "A two."),
        stage.agent("b", [call("look")], "B one.", "B two.", tools=[look], include_contents="none"),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say()
    await stage.say("again")


@case()
async def include_contents_none_of_a_root(stage):
    agent = stage.agent("a", [call("look")], "One.", "Two.", tools=[look], include_contents="none")
    await stage.open(agent)
    await stage.say()
    await stage.say("again")


@case()
async def thoughts_of_other_agents(stage):
    agents = [
        stage.agent("a", [Say("Secret.", thought=True), "Open."]),
        stage.agent("b", "Ok."),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say()
    config = stage.ns.RunConfig(include_thoughts_from_other_agents=True)
    await stage.say("again", run_config=config)


async def _show_a_file(stage, root: Any) -> None:
    blob = stage.ns.types.Blob(data=b"\x00\xff", mime_type="image/png")
    await stage.open(root)
    config = stage.ns.RunConfig(save_input_blobs_as_artifacts=True)
    part = stage.ns.types.Part(inline_data=blob)
    await stage.say([stage.ns.types.Part(text="Look"), part], run_config=config)


@case()
async def the_files_of_a_message_are_saved_on_demand(stage):
    agents = [stage.agent("a", "Nice.")]
    await _show_a_file(stage, stage.ns.SequentialAgent(name="seq", sub_agents=agents))


@case(differs=FILES_OF_MESSAGES)
async def the_files_of_a_message_to_an_agent_with_a_model_are_saved_on_demand(stage):
    await _show_a_file(stage, stage.agent("a", "Nice."))


@case(differs=USER_MESSAGE)
async def the_user_message_is_yielded_on_demand_by_a_composite_root(stage):
    agents = [stage.agent("a", "Ok.")]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say("go", yield_user_message=True)


@case(differs=UNSIGNED_EVENTS)
async def an_event_without_author_and_invocation(stage):
    async def body(ctx):
        yield stage.ns.Event(content=stage.ns.content("Whose?"))
        yield stage.ns.event("someone_else", "Mine.")

    await stage.open(stage.custom("custom", body))
    await stage.say()


@case(differs=PAUSED_WORKFLOW)
async def a_long_running_tool_pauses_a_sequence(stage):
    def ask() -> None:
        """Asks."""

    tool = stage.ns.LongRunningFunctionTool(ask)
    agents = [stage.agent("a", call("ask"), "Thanks.", tools=[tool]), stage.agent("b", "Next.")]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    events = await stage.say()
    question = next(event for event in events if event.get_function_calls())
    await stage.say(stage.answer(question, result="yes"))
