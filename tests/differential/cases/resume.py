"""Interrupted invocations that resume: what is restored, and what runs again."""

from functools import partial
from typing import Any

from tests.differential.case import Case, Difference, add, case
from tests.differential.differing_nodes import ERRORS_IN_WORKFLOWS
from tests.differential.differing_resume import (
    ANSWERS_TOLD,
    ENDS_OF_TEAMS,
    PAUSED_WORKFLOW,
    RESTORED_TOOLS,
    RESUMED_AT_THE_END,
    SEED_CHECKPOINTS,
    UNKNOWN_INVOCATION,
)
from tests.differential.script import Boom, Raise, call, transfer


class Flaky:
    """A tool that fails a few times before it works, and one that always works."""

    def __init__(self, stage: Any, failures: int = 1) -> None:
        self._stage = stage
        self._left = failures

    async def flaky(self) -> str:
        """Fails at first."""
        self._stage.note("flaky")
        if self._left:
            self._left -= 1
            raise Boom("boom")
        return "fine"

    async def steady(self) -> str:
        """Always works."""
        self._stage.note("steady")
        return "fine"


def tools(stage: Any) -> list[Any]:
    """Return a tool that fails once, and one that never does."""
    flaky = Flaky(stage)
    return [flaky.flaky, flaky.steady]


async def _tool(stage, resumable):
    answers = [call("steady")], [call("flaky")], "Done."
    await stage.open(stage.agent("agent", *answers, tools=tools(stage)), resumable=resumable)
    await stage.say()
    await stage.resume()
    await stage.say("next")


async def _batch(stage, resumable):
    answers = [call("steady"), call("flaky")], "Done."
    await stage.open(stage.agent("agent", *answers, tools=tools(stage)), resumable=resumable)
    await stage.say()
    await stage.resume()


async def _model(stage, resumable):
    answers = [call("steady")], [Raise()], "Done."
    await stage.open(stage.agent("agent", *answers, tools=tools(stage)), resumable=resumable)
    await stage.say()
    await stage.resume()


async def _finished(stage, resumable):
    await stage.open(stage.agent("agent", "Done.", "Again?"), resumable=resumable)
    await stage.say()
    await stage.resume()


async def _sequence(stage, resumable):
    agents = [
        stage.agent("a", "A.", "A again?"),
        stage.agent("b", Raise(), "B."),
        stage.agent("c", "C."),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents), resumable=resumable)
    await stage.say()
    await stage.resume()
    await stage.resume()


async def _sequence_tool(stage, resumable):
    agents = [
        stage.agent("a", "A.", "A again?"),
        stage.agent("b", call("flaky"), "B.", tools=tools(stage)),
        stage.agent("c", "C."),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents), resumable=resumable)
    await stage.say()
    await stage.resume()


async def _loop(stage, resumable):
    agents = [
        stage.agent("a", "A1.", "A2.", "A3.", "A4?"),
        stage.agent("b", "B1.", Raise(), "B2.", "B3."),
    ]
    loop = stage.ns.LoopAgent(name="loop", max_iterations=3, sub_agents=agents)
    await stage.open(loop, resumable=resumable)
    await stage.say()
    await stage.resume()


async def _transfer(stage, resumable):
    child = stage.agent("child", call("flaky"), "Child.", "More.", tools=tools(stage))
    root = stage.agent("root", transfer("child"), "Root?", sub_agents=[child])
    await stage.open(root, resumable=resumable)
    await stage.say()
    await stage.resume()
    await stage.say("next")


async def _left(stage, resumable):
    agents = [stage.agent(name, f"{name}.", f"{name} again?") for name in ("a", "b", "c")]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents), resumable=resumable)
    await stage.say(leave=4 if resumable else 2)
    await stage.resume()


BROKEN_OFF: dict[str, tuple[Any, Difference | None, Difference | None]] = {
    "a tool failed": (_tool, RESTORED_TOOLS, RESTORED_TOOLS),
    "a tool of a batch failed": (_batch, RESTORED_TOOLS, RESTORED_TOOLS),
    "the model failed": (_model, None, None),
    "all was said": (_finished, RESUMED_AT_THE_END, None),
    "an agent of a sequence failed": (_sequence, ERRORS_IN_WORKFLOWS, ERRORS_IN_WORKFLOWS),
    "a tool in a sequence failed": (_sequence_tool, ERRORS_IN_WORKFLOWS, ERRORS_IN_WORKFLOWS),
    "an agent of a loop failed": (_loop, ERRORS_IN_WORKFLOWS, ERRORS_IN_WORKFLOWS),
    "a tool failed after a transfer": (_transfer, RESTORED_TOOLS, RESTORED_TOOLS),
    "the caller left a sequence": (_left, None, None),
}
"""What is played, and the differences with and without checkpoints."""

for _name, (_play, *_differences) in BROKEN_OFF.items():
    for _resumable, _differs in zip((True, False), _differences, strict=True):
        _kind = "a resumable" if _resumable else "any"
        add(
            Case(
                f"{_kind} app is resumed when {_name}",
                partial(_play, resumable=_resumable),
                differs=_differs,
            )
        )


@case(differs=ERRORS_IN_WORKFLOWS)
async def a_parallel_agent_is_resumed_without_those_that_are_done(stage):
    agents = [stage.speaker("a", "A."), stage.agent("b", call("flaky"), "B.", tools=tools(stage))]
    await stage.open(stage.ns.ParallelAgent(name="par", sub_agents=agents), resumable=True)
    await stage.say()
    await stage.resume()


async def _steps(stage, ctx, agent, failures):
    class Steps(stage.ns.BaseAgentState):
        step: int = 0

    state = agent._load_agent_state(ctx, Steps) or Steps()
    stage.note("begins at", state.step)
    while state.step < 3:
        state = Steps(step=state.step + 1)
        yield stage.ns.event(
            agent.name,
            f"Step {state.step}.",
            invocation_id=ctx.invocation_id,
            branch=ctx.branch,
        )
        if state.step == 2 and failures:
            failures.pop()
            raise Boom("boom")
        ctx.set_agent_state(agent.name, agent_state=state)
        yield agent._create_agent_state_event(ctx)
    ctx.set_agent_state(agent.name, end_of_agent=True)
    yield agent._create_agent_state_event(ctx)


@case()
async def a_custom_agent_goes_on_from_its_checkpoint(stage):
    failures = [1]

    async def body(ctx):
        async for event in _steps(stage, ctx, ctx.agent, failures):
            yield event

    await stage.open(stage.custom("custom", body), resumable=True)
    await stage.say()
    await stage.resume()
    await stage.resume()


@case()
async def a_custom_agent_in_a_sequence_goes_on_from_its_checkpoint(stage):
    failures = [1]

    async def body(ctx):
        async for event in _steps(stage, ctx, ctx.agent, failures):
            yield event

    agents = [stage.agent("a", "A."), stage.custom("custom", body), stage.agent("b", "B.")]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents), resumable=True)
    await stage.say()
    await stage.resume()


@case(differs=SEED_CHECKPOINTS)
async def checkpoints_as_the_resume_seed_writes_them(stage):
    class Steps(stage.ns.BaseAgentState):
        step: int = 0

    async def body(ctx):
        yield ctx.agent._create_agent_state_event(ctx, Steps(step=1))
        yield ctx.agent._create_agent_state_event(ctx, end_of_agent=True)

    await stage.open(stage.custom("custom", body), resumable=True)
    await stage.say()


@case(differs=UNKNOWN_INVOCATION)
async def an_invocation_that_does_not_exist_is_resumed(stage):
    await stage.open(stage.agent("agent", "One.", "Two."), resumable=True)
    await stage.say()
    await stage.say(None, invocation_id="e-00000000")


@case(differs=UNKNOWN_INVOCATION)
async def an_invocation_that_does_not_exist_is_resumed_in_a_sequence(stage):
    root = stage.ns.SequentialAgent(name="seq", sub_agents=[stage.agent("a", "One.", "Two.")])
    await stage.open(root, resumable=True)
    await stage.say()
    await stage.say(None, invocation_id="e-00000000")


@case()
async def neither_message_nor_invocation(stage):
    await stage.open(stage.agent("agent", "One.", "Two."))
    await stage.say()
    await stage.say(None)


@case(differs=RESUMED_AT_THE_END)
async def a_new_message_with_the_id_of_an_old_invocation(stage):
    await stage.open(stage.agent("agent", "One.", "Two."), resumable=True)
    events = await stage.say()
    await stage.say("again", invocation_id=events[0].invocation_id)


@case(differs=ANSWERS_TOLD)
async def a_resumable_sequence_waits_for_an_answer(stage):
    def ask() -> None:
        """Asks."""

    tool = stage.ns.LongRunningFunctionTool(ask)
    agents = [
        stage.agent("a", "A."),
        stage.agent("b", call("ask"), "Thanks.", tools=[tool]),
        stage.agent("c", "C."),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents), resumable=True)
    await stage.say()
    await stage.say(stage.answer(stage.call("ask"), result="yes"))


@case(differs=PAUSED_WORKFLOW)
async def a_waiting_sequence_is_resumed_without_an_answer(stage):
    def ask() -> None:
        """Asks."""

    tool = stage.ns.LongRunningFunctionTool(ask)
    agents = [stage.agent("b", call("ask"), "Thanks.", tools=[tool]), stage.agent("c", "C.")]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents), resumable=True)
    await stage.say()
    await stage.resume()
    await stage.say(stage.answer(stage.call("ask"), result="yes"))


@case()
async def a_resumable_loop_waits_for_an_answer(stage):
    def ask() -> None:
        """Asks."""

    tool = stage.ns.LongRunningFunctionTool(ask)
    agents = [
        stage.agent("a", "A1.", "A2."),
        stage.agent("b", "B1.", call("ask"), "B2.", tools=[tool]),
    ]
    loop = stage.ns.LoopAgent(name="loop", max_iterations=2, sub_agents=agents)
    await stage.open(loop, resumable=True)
    await stage.say()
    await stage.say(stage.answer(stage.call("ask"), result="yes"))


@case()
async def a_resumable_agent_waits_for_an_answer(stage):
    def ask() -> None:
        """Asks."""

    tool = stage.ns.LongRunningFunctionTool(ask)
    agent = stage.agent("agent", call("ask"), "Thanks.", "Next.", tools=[tool])
    await stage.open(agent, resumable=True)
    await stage.say()
    await stage.resume()
    await stage.say(stage.answer(stage.call("ask"), result="yes"))
    await stage.say("next")


@case(differs=ENDS_OF_TEAMS)
async def a_resumable_team_records_its_ends(stage):
    child = stage.agent("child", "Child.", transfer("root"))
    root = stage.agent("root", transfer("child"), "Root.", "More.", sub_agents=[child])
    await stage.open(root, resumable=True)
    await stage.say()
    await stage.say("back")
    await stage.say("more")
