"""Context variables, as used by logging and tracing libraries."""

from contextvars import ContextVar

from tests.differential.case import case
from tests.differential.differing_state import BOUND_AFTER_RUNS, BOUND_BY_TOOLS
from tests.differential.script import call

BOUND = ContextVar("BOUND", default="nothing")


@case()
async def what_callbacks_bind_to_context_variables(stage):
    def bind(callback_context):
        BOUND.set(callback_context.agent_name)

    def bind_more(callback_context, llm_request):
        BOUND.set(f"{BOUND.get()} asks")

    async def look(**values):
        stage.note("bound", BOUND.get())

    def read() -> str:
        return BOUND.get()

    async def read_async() -> str:
        return BOUND.get()

    agent = stage.agent(
        "agent",
        call("read"),
        [call("read"), call("read_async")],
        "Done.",
        tools=[read, read_async],
        before_agent_callback=bind,
        before_model_callback=[bind_more, look],
        after_agent_callback=look,
    )
    await stage.open(agent)
    await stage.say()


@case(differs=BOUND_BY_TOOLS)
async def what_tools_bind_to_context_variables(stage):
    def bind() -> str:
        BOUND.set("a tool")
        return "bound"

    async def look(**values):
        stage.note("bound", BOUND.get())

    batch = [call("bind"), call("bind")]
    agent = stage.agent(
        "agent", batch, call("bind"), "Done.", tools=[bind], before_model_callback=look
    )
    await stage.open(agent)
    await stage.say()


async def _after_the_run(stage, root):
    await stage.open(root)
    await stage.say()
    stage.note("bound", BOUND.get())


def _binding(stage):
    def bind(callback_context):
        BOUND.set("a callback")

    return stage.agent("agent", "Done.", before_agent_callback=bind)


@case(differs=BOUND_AFTER_RUNS)
async def what_callbacks_bind_when_the_run_is_over(stage):
    await _after_the_run(stage, _binding(stage))


@case()
async def what_callbacks_of_parallel_agents_bind_when_the_run_is_over(stage):
    parallel = stage.ns.ParallelAgent(name="parallel", sub_agents=[_binding(stage)])
    await _after_the_run(stage, parallel)


@case()
async def what_callbacks_of_nodes_bind_when_the_run_is_over(stage):
    node = _binding(stage)
    await _after_the_run(stage, stage.ns.Workflow(name="graph", edges=[("START", node)]))
