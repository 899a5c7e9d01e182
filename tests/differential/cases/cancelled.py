"""Code that awaits a cancelled task, in a run that isn't cancelled."""

import asyncio

from tests.differential.case import case
from tests.differential.differing_tools import NOBODY_CANCELLED
from tests.differential.script import call


@case(differs=NOBODY_CANCELLED)
async def a_tool_raises_what_a_cancelled_task_does(stage):
    async def wait() -> None:
        """Wait."""
        raise asyncio.CancelledError

    await stage.open(stage.agent("agent", call("wait"), "Done.", tools=[wait]))
    await stage.say()


async def _cancelled_elsewhere(*_args, **_named):
    """Await a task that has been cancelled."""
    task = asyncio.create_task(asyncio.sleep(60))
    task.cancel()
    await task


@case(differs=NOBODY_CANCELLED)
async def an_instruction_awaits_what_was_cancelled(stage):
    async def instruction(context):
        await _cancelled_elsewhere()

    await stage.open(stage.agent("agent", "Done.", instruction=instruction))
    await stage.say()


@case(differs=NOBODY_CANCELLED)
async def a_callback_awaits_what_was_cancelled(stage):
    async def before(callback_context):
        await _cancelled_elsewhere()

    await stage.open(stage.agent("agent", "Done.", before_agent_callback=before))
    await stage.say()


@case(differs=NOBODY_CANCELLED)
async def an_agent_below_a_parallel_one_awaits_what_was_cancelled(stage):
    async def body(ctx):
        yield stage.ns.Event(author="one", content=stage.ns.content("One."))
        await _cancelled_elsewhere()

    agents = [stage.custom("one", body), stage.agent("two", "Two.")]
    await stage.open(stage.ns.ParallelAgent(name="both", sub_agents=agents))
    await stage.say()


@case(differs=NOBODY_CANCELLED)
async def a_node_awaits_what_was_cancelled(stage):
    async def waits(node_input):
        await _cancelled_elsewhere()

    await stage.open(stage.ns.Workflow(name="wf", edges=[("START", waits)]))
    await stage.say()
