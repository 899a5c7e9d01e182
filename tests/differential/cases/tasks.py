"""Agents that carry out tasks for the agent above them, and talk to the user meanwhile."""

from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.differing import WHO_FAILED
from tests.differential.differing_resume import RESTORED_TOOLS
from tests.differential.differing_tasks import (
    AFTER_TASKS,
    ARGUMENTS_OF_TASKS,
    CALLBACKS_OF_TASKS,
    CHECKED_OUTPUT,
    ENDS_OF_TASKS,
    TASK_ALWAYS_TOLD,
)
from tests.differential.script import Boom, Call, Raise, Say, call, part


class Order(BaseModel):
    dish: str
    count: int


class Bill(BaseModel):
    total: int
    note: str | None = None


ALONE = {"disallow_transfer_to_parent": True, "disallow_transfer_to_peers": True}


def look(place: str = "here") -> str:
    """Looks."""
    return f"{place} is fine"


def finish(**args: Any) -> Any:
    """Return the call that ends a task."""
    return call("finish_task", **args)


def worker(stage: Any, *answers: Any, name: str = "worker", **fields: Any) -> Any:
    """Return a task agent that can't transfer."""
    fields = {"mode": "task", "description": f"Does the work of {name}.", **ALONE, **fields}
    return stage.agent(name, *answers, **fields)


@case()
async def a_task_that_needs_no_words_of_the_user(stage):
    task = worker(stage, call("look", place="Rome"), finish(result="Rome is fine."), tools=[look])
    root = stage.agent("root", call("worker", request="Look."), "It is done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()


@case()
async def a_task_that_asks_the_user(stage):
    task = worker(stage, "Which city?", "And which year?", finish(result="Rome, 2026"))
    root = stage.agent(
        "root", call("worker", request="Find a city."), "It is Rome.", "More.", sub_agents=[task]
    )
    await stage.open(root)
    await stage.say()
    await stage.say("Rome")
    await stage.say("2026")
    await stage.say("thanks")


@case()
async def a_streamed_task(stage):
    task = worker(stage, Say("Which city do you mean?", chunks=3), finish(result="Rome"))
    root = stage.agent(
        "root",
        [Say("One moment.", chunks=2), call("worker", request="Find a city.")],
        Say("It is Rome.", chunks=2),
        sub_agents=[task],
    )
    await stage.open(root)
    await stage.stream()
    await stage.stream("Rome")


@case()
async def a_task_with_schemas(stage):
    task = worker(
        stage,
        finish(total=3, note="paid"),
        input_schema=Order,
        output_schema=Bill,
        output_key="bill",
    )
    root = stage.agent(
        "root", call("worker", dish="soup", count=2), "Paid.", sub_agents=[task], output_key="said"
    )
    await stage.open(root)
    await stage.say()


@case()
async def a_task_with_a_list_as_its_output(stage):
    task = worker(stage, finish(result=[1, 2]), output_schema=list[int], output_key="numbers")
    root = stage.agent("root", call("worker", request="Count."), "Counted.", sub_agents=[task])
    await stage.open(root)
    await stage.say()


@case()
async def an_output_that_does_not_fit_is_corrected(stage):
    task = worker(
        stage, finish(total="many"), "How many?", finish(total=3, note="x"), output_schema=Bill
    )
    root = stage.agent("root", call("worker", request="Sum up."), "Three.", sub_agents=[task])
    await stage.open(root)
    await stage.say()
    await stage.say("three")


@case()
async def the_output_key_of_a_task(stage):
    task = worker(stage, "Which?", finish(result="the red one"), output_key="choice")
    root = stage.agent(
        "root",
        [Say("Wait."), call("worker", request="Choose.")],
        "Done.",
        sub_agents=[task],
        output_key="said",
    )
    await stage.open(root)
    await stage.say()
    await stage.say("red")


@case()
async def finishing_with_words(stage):
    task = worker(stage, [Say("I am done."), finish(result="all of it")])
    root = stage.agent("root", call("worker", request="Work."), "Thanks.", sub_agents=[task])
    await stage.open(root)
    await stage.say()


@case()
async def a_task_waits_for_a_long_running_tool(stage):
    def approve() -> None:
        """Asks the boss."""

    tool = stage.ns.LongRunningFunctionTool(approve)
    task = worker(stage, call("approve"), finish(result="approved"), tools=[tool])
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()
    await stage.say(stage.answer(stage.call("approve"), result="yes"))


@case()
async def a_task_waits_for_a_confirmation(stage):
    tool = stage.ns.FunctionTool(look, require_confirmation=True)
    task = worker(stage, call("look"), finish(result="looked"), tools=[tool])
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=True))


@case(differs=WHO_FAILED)
async def the_model_of_a_task_fails(stage):
    task = worker(stage, Raise(), "Which?", finish(result="A"))
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()
    await stage.say("again")
    await stage.say("a")


@case()
async def a_tool_of_a_task_fails(stage):
    def fall() -> None:
        raise Boom("boom")

    task = worker(stage, call("fall"), finish(result="A"), tools=[fall])
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case(differs=ARGUMENTS_OF_TASKS)
async def arguments_of_a_task_that_do_not_fit(stage):
    task = worker(stage, finish(result="A"), input_schema=Order)
    root = stage.agent("root", call("worker", dish="soup"), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()


@case()
async def callbacks_around_tasks(stage):
    def before(callback_context):
        stage.note("before", callback_context.agent_name)
        callback_context.state[f"before {callback_context.agent_name}"] = True

    task = worker(stage, "Which?", finish(result="A"), before_agent_callback=before)
    root = stage.agent(
        "root",
        call("worker", request="Work."),
        "Done.",
        sub_agents=[task],
        before_agent_callback=before,
    )
    await stage.open(root)
    await stage.say()
    await stage.say("a")


@case()
async def state_within_tasks(stage):
    async def keep(tool_context, value: str) -> str:
        """Keeps."""
        tool_context.state["kept"] = value
        return "kept"

    task = worker(
        stage,
        call("keep", value="red"),
        "Which?",
        finish(result="A"),
        tools=[keep],
        instruction="Case: {kept?}",
    )
    root = stage.agent(
        "root",
        call("worker", request="Work."),
        "Done.",
        sub_agents=[task],
        instruction="Case: {kept?}",
    )
    await stage.open(root)
    await stage.say()
    await stage.say("a", state_delta={"kept": "blue"})


@case(differs=TASK_ALWAYS_TOLD)
async def a_task_with_the_current_turn_only(stage):
    task = worker(
        stage, "Which?", call("look"), finish(result="A"), tools=[look], include_contents="none"
    )
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()
    await stage.say("a")


@case()
async def a_task_is_taken_back(stage):
    task = worker(stage, "Which?", "Which now?", finish(result="A"))
    root = stage.agent(
        "root", call("worker", request="Work."), "Never mind.", "More.", sub_agents=[task]
    )
    await stage.open(root)
    events = await stage.say()
    await stage.runner.rewind_async(
        user_id="u", session_id="s", rewind_before_invocation_id=events[0].invocation_id
    )
    await stage.say("something else")


@case()
async def files_of_a_task(stage):
    async def save(tool_context) -> int:
        """Saves."""
        return await tool_context.save_artifact("a.txt", stage.ns.types.Part(text="a"))

    task = worker(stage, call("save"), finish(result="saved"), tools=[save])
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()


@case(differs=ENDS_OF_TASKS)
async def a_resumable_task(stage):
    task = worker(stage, "Which?", finish(result="A"))
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root, resumable=True)
    await stage.say()
    await stage.say("a")
    await stage.say("more")


@case(differs=RESTORED_TOOLS)
async def a_task_broken_off_in_a_tool(stage):
    failures = [Boom("boom")]

    def fall() -> str:
        """Fails once."""
        if failures:
            raise failures.pop()
        return "fine"

    task = worker(stage, call("fall"), finish(result="A"), "Which?", tools=[fall])
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root, resumable=True)
    await stage.say()
    await stage.resume()


@case()
async def a_task_is_resumed_without_checkpoints(stage):
    task = worker(stage, finish(result="A"))
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say(leave=3)
    await stage.resume()


@case(differs=ENDS_OF_TASKS)
async def a_caller_who_leaves_when_a_task_is_done(stage):
    task = worker(stage, finish(result="A"))
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root, resumable=True)
    await stage.say(leave=3)
    await stage.resume()


@case(differs=AFTER_TASKS)
async def callbacks_after_tasks(stage):
    def after(callback_context):
        stage.note("after", callback_context.agent_name)

    task = worker(stage, "Which?", finish(result="A"), after_agent_callback=after)
    root = stage.agent(
        "root",
        call("worker", request="Work."),
        "Done.",
        sub_agents=[task],
        after_agent_callback=after,
    )
    await stage.open(root)
    await stage.say()
    await stage.say("a")


@case(differs=CALLBACKS_OF_TASKS)
async def a_callback_answers_in_place_of_a_task(stage):
    def forbid(tool, args, tool_context):
        return {"error": "boom: not today"} if tool.name == "worker" else None

    task = worker(stage, finish(result="A"))
    root = stage.agent(
        "root",
        call("worker", request="Work."),
        "Then not.",
        sub_agents=[task],
        before_tool_callback=forbid,
    )
    await stage.open(root)
    await stage.say()


@case()
async def callbacks_of_the_model_and_the_tools_of_a_task(stage):
    def before_model(callback_context, llm_request):
        stage.note("before model", callback_context.agent_name)

    def after_tool(tool, args, tool_context, tool_response):
        stage.note("after tool", tool.name, tool_response)

    task = worker(
        stage,
        call("look"),
        finish(result="A"),
        tools=[look],
        before_model_callback=before_model,
        after_tool_callback=after_tool,
    )
    root = stage.agent(
        "root",
        call("worker", request="Work."),
        "Done.",
        sub_agents=[task],
        before_model_callback=before_model,
    )
    await stage.open(root)
    await stage.say()


@case(differs=CHECKED_OUTPUT)
async def an_output_that_the_schema_completes(stage):
    task = worker(stage, finish(total="3"), output_schema=Bill, output_key="bill")
    root = stage.agent("root", call("worker", request="Sum up."), "Three.", sub_agents=[task])
    await stage.open(root)
    await stage.say()


@case()
async def a_task_agent_that_is_answered_for(stage):
    def answer(callback_context):
        return stage.ns.content("Not now.")

    task = worker(stage, finish(result="A"), before_agent_callback=answer)
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case()
async def plugins_see_tasks(stage):
    class Watch(stage.ns.BasePlugin):
        async def on_user_message_callback(self, *, invocation_context, user_message):
            stage.note("message", user_message.parts[0].text)

        async def before_agent_callback(self, *, agent, callback_context):
            stage.note("agent", agent.name)

        async def on_event_callback(self, *, invocation_context, event):
            stage.note("event", event.author, event.isolation_scope is None)

    task = worker(stage, "Which?", finish(result="A"))
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root, plugins=[Watch(name="watch")])
    await stage.say()
    await stage.say("a")


async def _never_begun(stage, calls, answers, says, tools=()):
    """The process ended between an agent's calls and the tasks that they start."""
    task = worker(stage, *answers)
    root = stage.agent("root", "All done.", "More.", sub_agents=[task], tools=list(tools))
    await stage.open(root)
    service = stage.runner.session_service
    session = await service.get_session(app_name="app", user_id="u", session_id="s")
    history = [("user", [types.Part(text="Please.")]), ("root", [part(each) for each in calls])]
    for author, parts in history:
        content = types.Content(role="user" if author == "user" else "model", parts=parts)
        event = stage.ns.Event(invocation_id="e-first", author=author, content=content)
        await service.append_event(session, event)
    for each in says:
        await stage.say(each)


_ONE, _OTHER = (Call("worker", {"request": each}, id=each) for each in ("one", "other"))
for _name, _play in {
    "done at once": partial(
        _never_begun, calls=[_ONE], answers=[finish(result="A")], says=("Go on.", "And?")
    ),
    "that asks": partial(
        _never_begun, calls=[_ONE], answers=["Which?", finish(result="A")], says=("Go on.", "A.")
    ),
    "one of two": partial(
        _never_begun,
        calls=[_ONE, _OTHER],
        answers=[finish(result="A"), finish(result="B")],
        says=("Go on.",),
    ),
    "that asks, one of two": partial(
        _never_begun,
        calls=[_ONE, _OTHER],
        answers=["Which?", finish(result="A"), finish(result="B")],
        says=("Go on.", "A."),
    ),
    "said beforehand": partial(
        _never_begun, calls=[Say("One moment."), _ONE], answers=[finish(result="A")], says=("Go.",)
    ),
}.items():
    add(Case(f"a task that had never begun, {_name}", _play))
