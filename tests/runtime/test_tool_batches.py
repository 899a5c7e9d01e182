"""The other tools of a batch if one fails (resume seed; adk-runtime 8.3)."""

import asyncio
import threading
from collections import Counter

import pytest

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.plugins import BasePlugin
from tests.kit.patience import PATIENCE
from tests.kit.stages import run, runner_of, stored
from tests.kit.turns import invocation_of, responses, said_by


def buyer(*tools, **fields) -> Agent:
    """Return an agent that calls all tools at once."""
    batch = [Call(tool.__name__) for tool in tools]
    rules = [Rule(after=tools[0].__name__, then=Say("all done")), Rule(then=batch)]
    return Agent(name="buyer", model=ScriptedLlm(rules=rules), tools=[*tools], **fields)


async def much_later(then) -> None:
    """Call `then` after everything that a failure triggers."""
    for _ in range(50):
        await asyncio.sleep(0)
    then()


@pytest.mark.req("R54")
@pytest.mark.parametrize("failing_first", [True, False])
async def test_running_plain_functions_finish_and_are_not_rerun(failing_first):
    ran: Counter[str] = Counter()
    release = threading.Event()
    tasks = set()

    def slow() -> str:
        ran["slow"] += 1
        assert release.wait(PATIENCE)
        return "S"

    def bad() -> str:
        ran["bad"] += 1
        if ran["bad"] == 1:
            raise ConnectionError("offline")
        return "B"

    async def on_error(tool, args, tool_context, error):
        tasks.add(asyncio.create_task(much_later(release.set)))

    tools = [bad, slow] if failing_first else [slow, bad]
    runner = runner_of(buyer(*tools, on_tool_error_callback=on_error))
    with pytest.raises(ConnectionError):
        await run(runner)
    assert responses((await stored(runner)).events) == [("slow", {"result": "S"})]
    events = await run(runner, None, invocation_id=await invocation_of(runner))
    assert responses(events) == [("bad", {"result": "B"})]
    assert said_by("buyer", events) == ["all done"]
    assert ran == {"slow": 1, "bad": 2}


@pytest.mark.req("R54")
async def test_results_of_the_others_are_kept_for_a_base_exception_too():
    def good() -> str:
        return "G"

    async def bad() -> None:
        raise BaseExceptionGroup("two", [KeyError("a"), SystemExit(3)])

    runner = runner_of(buyer(good, bad))
    with pytest.raises(BaseExceptionGroup):
        await run(runner)
    assert responses((await stored(runner)).events) == [("good", {"result": "G"})]


async def test_callbacks_in_threads_do_not_prevent_plain_functions_from_running():
    release = threading.Event()
    tasks = set()

    def before(tool, args, tool_context):
        if tool.name == "good":
            assert release.wait(PATIENCE)

    def good() -> str:
        return "G"

    def bad() -> None:
        raise ConnectionError("offline")

    async def on_error(tool, args, tool_context, error):
        tasks.add(asyncio.create_task(much_later(release.set)))

    callbacks = {"before_tool_callback": before, "on_tool_error_callback": on_error}
    runner = runner_of(buyer(good, bad, **callbacks))
    with pytest.raises(ConnectionError):
        await run(runner)
    assert responses((await stored(runner)).events) == [("good", {"result": "G"})]


@pytest.mark.req("R54")
async def test_waiting_async_functions_are_cancelled_and_all_error_hooks_called():
    reports: list[tuple[str, str, type]] = []
    begun = asyncio.Event()

    class Watching(BasePlugin):
        async def on_tool_error_callback(self, *, tool, tool_args, tool_context, error):
            reports.append(("plugin", tool.name, type(error)))

    def watch(tool, args, tool_context, error):
        reports.append(("agent", tool.name, type(error)))
        if tool.name == "stuck":
            raise RuntimeError("cannot put away")

    async def stuck() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def bad() -> None:
        await begun.wait()
        raise ConnectionError("offline")

    agent = buyer(stuck, bad, on_tool_error_callback=[watch, watch])
    runner = runner_of(agent, plugins=[Watching(name="watching")])
    with pytest.raises(ConnectionError):
        await run(runner)
    assert reports == [
        ("plugin", "bad", ConnectionError),
        *[("agent", "bad", ConnectionError)] * 2,
        ("plugin", "stuck", asyncio.CancelledError),
        *[("agent", "stuck", asyncio.CancelledError)] * 2,
    ]


@pytest.mark.req("R54")
async def test_the_first_failure_in_call_order_is_raised():
    release = threading.Event()

    def late() -> None:
        assert release.wait(PATIENCE)
        raise ValueError("late")

    def early() -> None:
        release.set()
        raise ConnectionError("early")

    with pytest.raises(ValueError, match="late"):
        await run(runner_of(buyer(late, early)))


async def test_awaiting_something_cancelled_is_a_failure_of_the_tool():
    async def odd() -> None:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    def good() -> str:
        return "G"

    for tools in ([odd], [odd, good]):
        runner = runner_of(buyer(*tools))
        with pytest.raises(RuntimeError, match="'odd' awaited something that was cancelled"):
            await run(runner)
        assert (await stored(runner)).events[-1].error_code == "RuntimeError"


async def test_a_stopped_batch_does_not_wait_for_plain_functions():
    begun, release = threading.Event(), threading.Event()

    def stuck() -> None:
        begun.set()
        release.wait(PATIENCE)

    def other() -> None:
        release.wait(PATIENCE)

    turn = asyncio.create_task(run(runner_of(buyer(stuck, other))))
    await asyncio.to_thread(begun.wait)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    release.set()


async def test_awaiting_something_cancelled_in_a_callback_fails_the_run():
    async def one() -> str:
        return "1"

    async def two() -> str:
        return "2"

    async def after(tool, args, tool_context, tool_response):
        if tool.name == "one":
            task = asyncio.create_task(asyncio.sleep(PATIENCE))
            task.cancel()
            await task

    runner = runner_of(buyer(one, two, after_tool_callback=after))
    with pytest.raises(RuntimeError, match="A callback of tool 'one' awaited something"):
        await run(runner)
    assert responses((await stored(runner)).events) == [("two", {"result": "2"})]
