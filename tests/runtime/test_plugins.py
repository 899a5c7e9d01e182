"""Plugins: every hook, their order, and which answer wins (adk-runtime 10.4)."""

import asyncio

import pytest

from devui.runtime.agents import LlmAgent
from devui.runtime.events import Event
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.plugins import BasePlugin, PluginManager
from devui.runtime.runners import InMemoryRunner
from tests.kit.stages import Scripted, run, runner_of, said, stored, texts

HOOKS = [
    "on_user_message_callback",
    "before_run_callback",
    "on_event_callback",
    "after_run_callback",
    "before_agent_callback",
    "after_agent_callback",
    "before_model_callback",
    "after_model_callback",
    "on_model_error_callback",
    "before_tool_callback",
    "after_tool_callback",
    "on_tool_error_callback",
    "on_agent_error_callback",
    "on_run_error_callback",
]


class Recording(BasePlugin):
    """A plugin that records each hook called, and returns the given answers."""

    def __init__(self, name: str = "recording", **answers) -> None:
        super().__init__(name)
        self.log: list[str] = []
        self.seen: list[dict] = []
        self.answers = answers


def _recorder(hook: str):
    async def recorder(self, **values):
        self.log.append(hook)
        self.seen.append(values)
        answer = self.answers.get(hook)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return recorder


for _hook in HOOKS:
    setattr(Recording, _hook, _recorder(_hook))


def short(log: list[str]) -> list[str]:
    return [hook.removesuffix("_callback") for hook in log]


def tool(x: int) -> dict:
    """A tool."""
    return {"x": x}


async def test_the_hooks_of_a_turn_with_a_tool_are_called_in_order():
    rules = [Rule(after="tool", then=Say("done")), Rule(then=Call("tool", x=1))]
    plugin = Recording()
    agent = LlmAgent(name="agent", model=ScriptedLlm(rules=rules), tools=[tool])
    await run(runner_of(agent, plugins=[plugin]))
    assert short(plugin.log) == [
        "on_user_message",
        "before_run",
        "before_agent",
        "before_model",
        "after_model",
        "on_event",
        "before_tool",
        "after_tool",
        "on_event",
        "before_model",
        "after_model",
        "on_event",
        "after_agent",
        "after_run",
    ]


async def test_a_plugin_may_replace_the_users_message():
    plugin = Recording(on_user_message_callback=said("other"))
    runner = runner_of(Scripted(name="a"), plugins=[plugin])
    await run(runner, "original")
    assert texts((await stored(runner)).events) == ["other", "a"]


async def test_a_plugin_may_answer_for_the_run():
    plugin = Recording(before_run_callback=said("closed today"))
    runner = runner_of(Scripted(name="a"), plugins=[plugin])
    events = await run(runner)
    assert [(e.author, t) for e, t in zip(events, texts(events), strict=True)] == [
        ("model", "closed today")
    ]
    assert short(plugin.log) == ["on_user_message", "before_run", "on_event", "after_run"]
    assert len((await stored(runner)).events) == 2


async def test_a_plugin_may_answer_for_an_agent_before_its_callbacks_run():
    calls = []
    agent = Scripted(name="a", before_agent_callback=lambda callback_context: calls.append(1))
    plugin = Recording(before_agent_callback=said("instead"))
    assert texts(await run(runner_of(agent, plugins=[plugin]))) == ["instead"]
    assert not calls


async def test_an_event_may_be_replaced_but_keeps_its_identity():
    async def body(ctx):
        yield Event(message="secret", state={"k": 1}, id="one", timestamp=5.0)

    replacement = Event(message="redacted")
    plugin = Recording(on_event_callback=replacement)
    runner = runner_of(Scripted(name="a", body=body), plugins=[plugin])
    [event] = await run(runner)
    assert (event.id, event.timestamp, event.author) == ("one", 5.0, "a")
    assert event.actions.state_delta == {"k": 1}
    assert texts([event]) == ["redacted"]
    assert texts((await stored(runner)).events) == ["go", "redacted"]


async def test_plugins_see_an_event_before_its_commit():
    class Gate(BasePlugin):
        async def on_event_callback(self, *, invocation_context, event):
            waiting.set()
            await release.wait()

    waiting, release = asyncio.Event(), asyncio.Event()
    runner = runner_of(Scripted(name="a"), plugins=[Gate("gate")])
    task = asyncio.create_task(run(runner))
    await waiting.wait()
    assert len((await stored(runner)).events) == 1
    release.set()
    await task
    assert len((await stored(runner)).events) == 2


async def test_the_first_answer_wins():
    first = Recording("first", before_run_callback=said("first"))
    second = Recording("second", before_run_callback=said("second"))
    events = await run(runner_of(Scripted(name="a"), plugins=[first, second]))
    assert texts(events) == ["first"]
    assert "before_run_callback" not in second.log


async def test_a_hook_that_raises_ends_the_run_and_is_named():
    plugin = Recording("broken", before_agent_callback=KeyError("k"))
    with pytest.raises(RuntimeError, match=r"'broken'.*before_agent_callback"):
        await run(runner_of(Scripted(name="a"), plugins=[plugin]))
    assert "after_run_callback" not in plugin.log


@pytest.mark.parametrize("hook", [hook for hook in HOOKS if "agent_c" in hook or "model_c" in hook])
@pytest.mark.parametrize("nothing", [False, "", {}])
async def test_a_falsy_answer_of_a_plugin_does_not_stop_the_run(hook, nothing):
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=[Rule(then=Say("hello"))]))
    runner = runner_of(agent, plugins=[Recording(**{hook: nothing})])
    assert texts(await run(runner)) == ["hello"]


async def test_plugins_must_be_a_list_of_instances():
    with pytest.raises(TypeError, match="the class Recording; pass instances of plugin classes"):
        InMemoryRunner(Scripted(name="a"), plugins=[Recording])
    with pytest.raises(TypeError, match="pass a list of plugins"):
        InMemoryRunner(Scripted(name="a"), plugins=Recording())


async def test_an_error_hook_that_is_not_async_is_reported(caplog):
    class Plain(BasePlugin):
        def on_run_error_callback(self, **values): ...

    async def body(ctx):
        raise KeyError("boom")
        yield

    with pytest.raises(KeyError, match="boom"):
        await run(runner_of(Scripted(name="a", body=body), plugins=[Plain("plain")]))
    assert "is a plain function. Define it with `async def`." in caplog.messages[-1]


async def test_all_plugins_get_errors_and_failing_error_hooks_are_logged(caplog):
    async def body(ctx):
        raise KeyError("boom")
        yield

    first = Recording("first", on_agent_error_callback=ValueError("in the hook"))
    second = Recording("second")
    runner = runner_of(Scripted(name="a", body=body), plugins=[first, second])
    with pytest.raises(KeyError, match="boom"):
        await run(runner)
    for plugin in (first, second):
        assert short(plugin.log)[-2:] == ["on_agent_error", "on_run_error"]
    assert "in the hook" in caplog.text


async def test_leaving_a_run_early_calls_after_run():
    plugin = Recording()
    runner = runner_of(Scripted(name="a"), plugins=[plugin])
    events = runner.run_async(user_id="u", session_id="s", new_message=said("go"))
    await anext(events)
    await events.aclose()
    assert plugin.log[-1] == "after_run_callback"


def test_plugin_names_are_unique():
    manager = PluginManager([BasePlugin("a")])
    with pytest.raises(ValueError, match="'a'"):
        manager.register_plugin(BasePlugin("a"))
    assert manager.get_plugin("a") is manager.plugins[0]
    assert manager.get_plugin("b") is None


async def test_a_plugin_registered_later_is_called_too():
    runner = runner_of(Scripted(name="a"))
    await run(runner)
    plugin = Recording()
    runner.plugin_manager.register_plugin(plugin)
    await run(runner)
    assert plugin.log[0] == "on_user_message_callback"


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("runs_before", [0, 1])
async def test_the_plugins_listed_when_a_run_begins_are_called(runs_before, anew):
    plugin, later, another = Recording(), Recording("later"), Recording("another")
    runner = runner_of(Scripted(name="a"), plugins=[another])
    for _ in range(runs_before):
        await run(runner)
    before = list(another.log)
    if anew:
        runner.plugin_manager.plugins = [plugin]
    else:
        runner.plugin_manager.plugins[:] = [plugin]
    runner.plugin_manager.plugins.append(later)
    await run(runner)
    assert plugin.log[0] == later.log[0] == "on_user_message_callback"
    assert another.log == before


async def test_a_disabled_plugin_is_not_called_and_can_be_enabled_during_a_run():
    plugin, other = Recording("disabled"), Recording("other")
    runner = runner_of(Scripted(name="a"), plugins=[plugin, other])
    runner.plugin_manager.set_disabled(["disabled"])
    events = runner.run_async(user_id="u", session_id="s", new_message=said("go"))
    await anext(events)
    assert plugin.log == []
    runner.plugin_manager.set_disabled([])
    async for _ in events:
        pass
    assert plugin.log[-1] == other.log[-1] == "after_run_callback"


class Closing(BasePlugin):
    closed = False

    async def close(self) -> None:
        self.closed = True
        if self.name == "broken":
            raise KeyError("k")
        if self.name == "slow":
            await asyncio.Event().wait()


async def test_closing_the_runner_closes_all_plugins_and_names_those_that_fail():
    plugins = [Closing("broken"), Closing("slow"), Closing("good")]
    manager = PluginManager(plugins, close_timeout=0.01)
    with pytest.raises(RuntimeError, match=r"'broken'.*'slow'"):
        await manager.close()
    assert all(plugin.closed for plugin in plugins)
    spared = Closing("spared")
    manager = PluginManager([spared])
    manager.set_skip_closing_plugins(True)
    await manager.close()
    assert not spared.closed
