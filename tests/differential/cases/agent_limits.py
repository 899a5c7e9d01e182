"""Agents with a timeout, retries or a state schema, at the root and below it."""

import asyncio
from functools import partial

from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.differing import WHO_FAILED
from tests.differential.differing_limits import (
    EXPERTS_OF_PARTS,
    FAILED_CALLS_TRIED_AGAIN,
    TIME_OF_THE_CALLER,
)
from tests.differential.differing_resume import ENDS_OF_TEAMS
from tests.differential.script import Boom, Raise, call, transfer

ALONE = {"disallow_transfer_to_parent": True, "disallow_transfer_to_peers": True}
"""Fields of agents that a model calls and that can't transfer to others."""


class Trip(BaseModel):
    """The state schema."""

    days: int = 1


def note(tool_context, key: str, value: int | str) -> str:
    """Note it."""
    tool_context.state[key] = value
    return "noted"


def late(stage, name, *answers, **fields):
    """Return an agent whose first model request takes longer than the timeout."""
    model, requests = stage.model(*answers, label=name), []

    class Late(stage.ns.BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            if not requests:
                requests.append(llm_request)
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    stage.note("cancelled", name)
                    raise
            async for response in model.generate_content_async(llm_request, stream=stream):
                yield response

    return stage.agent(name, model=Late(model="late"), timeout=0.4, **fields)


def failing(stage, name, *answers, **fields):
    """Return an agent with retries, whose first model request fails."""
    again = stage.ns.RetryConfig(max_attempts=3, initial_delay=0, jitter=0)
    return stage.agent(name, Raise(), *answers, retry_config=again, **fields)


def noting(stage, name, *answers, key="days", value="many", **fields):
    """Return an agent that writes a value its state schema doesn't allow."""
    note_call = call("note", key=key, value=value)
    return stage.agent(name, note_call, *answers, tools=[note], state_schema=Trip, **fields)


def unknown(stage, name, *answers, **fields):
    """Return an agent that writes a key its state schema doesn't have."""
    return noting(stage, name, *answers, key="hours", value=1, **fields)


def fitting(stage, name, *answers, **fields):
    """Return an agent that writes what its state schema allows."""
    return noting(stage, name, *answers, value=3, **fields)


LIMITS = {"time": late, "retries": failing, "a schema": noting, "keys": unknown, "a fit": fitting}


async def _root(stage, limit, resumable):
    root = LIMITS[limit](stage, "agent", "Done.", "More.")
    await stage.open(root, resumable=resumable)
    await stage.say()
    await stage.say("again")


async def _target(stage, limit, resumable):
    target = LIMITS[limit](stage, "target", "Done.", "More.", description="Helps.")
    root = stage.agent("root", transfer("target"), "Root.", sub_agents=[target])
    await stage.open(root, resumable=resumable)
    await stage.say()
    await stage.say("again")


async def _as_tool(stage, limit, resumable):
    inner = LIMITS[limit](stage, "inner", "Done.", description="Helps.")
    tool = stage.ns.AgentTool(inner)
    root = stage.agent("root", call("inner", request="Help."), "Root.", tools=[tool])
    await stage.open(root, resumable=resumable)
    await stage.say()


async def _part(stage, limit, resumable):
    part = LIMITS[limit](stage, "part", "Done.", description="Helps.")
    team = stage.ns.SequentialAgent(name="team", description="Helps.", sub_agents=[part])
    if limit == "time":
        part.timeout, team.timeout = None, part.timeout
    elif limit != "retries":
        part.state_schema, team.state_schema = None, part.state_schema
    root = stage.agent("root", transfer("team"), "Root.", sub_agents=[team])
    await stage.open(root, resumable=resumable)
    await stage.say()


for _limit in LIMITS:
    for _resumable in (False, True):
        _kind = ", resumable" if _resumable else ""
        _how = {"limit": _limit, "resumable": _resumable}
        add(Case(f"limits: {_limit} of the root{_kind}", partial(_root, **_how)))
        add(Case(f"limits: {_limit} of an AgentTool{_kind}", partial(_as_tool, **_how)))
        if not _resumable:
            _told = None if _limit in {"a schema", "keys", "a fit"} else WHO_FAILED
            add(Case(f"limits: {_limit} of a target", partial(_target, **_how), _told))
            _told = None if _limit == "a fit" else WHO_FAILED
            add(Case(f"limits: {_limit} of a workflow agent", partial(_part, **_how), _told))


async def _expert(stage, limit):
    fields = {"mode": "single_turn", "description": "Knows.", **ALONE}
    expert = LIMITS[limit](stage, "expert", "Done.", **fields)
    request = call("expert", request="Help.")
    await stage.open(stage.agent("root", request, "Root.", sub_agents=[expert]))
    await stage.say()


for _limit in ("retries", "a fit"):
    add(Case(f"limits: {_limit} of an expert", partial(_expert, limit=_limit)))


async def _task(stage, limit):
    fields = {"mode": "task", "description": "Works.", **ALONE}
    task = LIMITS[limit](stage, "clerk", call("finish_task", result="Done."), **fields)
    request = call("clerk", request="Work.")
    await stage.open(stage.agent("root", request, "Root.", sub_agents=[task]))
    await stage.say()


for _limit in LIMITS:
    _told = WHO_FAILED if _limit in {"time", "retries"} else None
    add(Case(f"limits: {_limit} of a task", partial(_task, limit=_limit), _told))


# Limits of one agent, and the agents that it transfers to or calls


@case()
async def limits_end_where_an_agent_hands_over(stage):
    async def slow():
        """Take a while."""
        await asyncio.sleep(0.2)
        return "done"

    target = stage.agent("target", call("slow"), "Done.", tools=[slow], description="Helps.")
    await stage.open(stage.agent("root", transfer("target"), sub_agents=[target], timeout=0.1))
    await stage.say()


@case(differs=WHO_FAILED)
async def an_agent_is_not_tried_again_for_its_target(stage):
    target = stage.agent("target", Raise(), "Done.", description="Helps.")
    again = stage.ns.RetryConfig(max_attempts=3, initial_delay=0)
    root = stage.agent("root", transfer("target"), sub_agents=[target], retry_config=again)
    await stage.open(root)
    await stage.say()


async def _schema_around(stage, where):
    writes = [call("note", key="hours", value=1), "Done."]
    below = stage.agent("below", *writes, tools=[note], description="Helps.")
    if where == "peer":
        first = stage.agent(
            "first", transfer("below"), state_schema=Trip, tools=[note], description="Begins."
        )
        root = stage.agent("root", transfer("first"), sub_agents=[first, below])
    else:
        root = stage.agent(
            "root", transfer("below"), state_schema=Trip, tools=[note], sub_agents=[below]
        )
    await stage.open(root)
    await stage.say()


for _where in ("target", "peer"):
    add(Case(f"limits: the schema above a {_where}", partial(_schema_around, where=_where)))


@case(differs=WHO_FAILED)
async def a_caller_is_tried_again_for_its_task(stage):
    answers = [Raise(), call("finish_task", result="Done.")]
    task = stage.agent("clerk", *answers, mode="task", description="Works.", **ALONE)
    again = stage.ns.RetryConfig(max_attempts=3, initial_delay=0, jitter=0)
    request = call("clerk", request="Work.")
    await stage.open(stage.agent("root", request, "Root.", sub_agents=[task], retry_config=again))
    await stage.say()


# Retries and timeouts with tools, teams and slow callers


async def _tool_then_fails(stage, resumable):
    again = stage.ns.RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
    answers = [call("note", key="a", value=1), Raise(), "Done."]
    root = stage.agent("agent", *answers, tools=[note], retry_config=again)
    await stage.open(root, resumable=resumable)
    await stage.say()


for _resumable in (False, True):
    _kind = ", resumable" if _resumable else ""
    _play = partial(_tool_then_fails, resumable=_resumable)
    add(Case(f"limits: what tools have done is not done again{_kind}", _play))


def _shaky():
    """Return a tool that fails once."""
    runs = []

    async def shaky():
        """Fail at first."""
        runs.append(1)
        if len(runs) == 1:
            raise Boom("boom in a tool")
        return "steady"

    return shaky


async def _tool_fails(stage, resumable):
    again = stage.ns.RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
    answers = [call("shaky"), call("shaky"), "Done."]
    root = stage.agent("agent", *answers, tools=[_shaky()], retry_config=again)
    await stage.open(root, resumable=resumable)
    await stage.say()


add(Case("limits: a call that failed is made again", partial(_tool_fails, resumable=False)))
add(
    Case(
        "limits: a call that failed is made again, resumable",
        partial(_tool_fails, resumable=True),
        FAILED_CALLS_TRIED_AGAIN,
    )
)


@case()
async def an_agent_fails_as_often_as_it_may(stage):
    again = stage.ns.RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
    await stage.open(stage.agent("agent", Raise(), Raise(), "Late.", retry_config=again))
    await stage.say()
    await stage.say("again")


@case()
async def an_agent_fails_in_a_way_that_is_not_tried_again(stage):
    again = stage.ns.RetryConfig(max_attempts=3, initial_delay=0, exceptions=["KeyError"])
    await stage.open(stage.agent("agent", Raise(), "Late.", retry_config=again))
    await stage.say()


@case()
async def a_late_agent_is_tried_again(stage):
    again = stage.ns.RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
    await stage.open(late(stage, "agent", "Done.", retry_config=again))
    await stage.stream()


@case()
async def a_late_tool_is_cancelled(stage):
    async def slow():
        """Take a while."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stage.note("cancelled")
            raise

    root = stage.agent("agent", call("slow"), "Done.", tools=[slow], timeout=0.05)
    await stage.open(root)
    await stage.say()
    await stage.say("again")


async def _caller_takes_its_time(stage, root):
    await stage.open(root)
    events = stage.runner.run_async(
        user_id="u", session_id="s", new_message=stage.ns.content("go", role="user")
    )
    try:
        async for event in events:
            stage.events.append(event)
            await asyncio.sleep(0.3)
    except Exception as error:  # noqa: BLE001  the exception is part of the record
        stage.note(type(error).__name__)


@case(differs=TIME_OF_THE_CALLER)
async def a_caller_takes_its_time_over_an_event_of_an_agent(stage):
    answers = [call("note", key="a", value=1), "Done."]
    await _caller_takes_its_time(stage, stage.agent("agent", *answers, tools=[note], timeout=0.2))


@case(differs=TIME_OF_THE_CALLER)
async def a_caller_takes_its_time_over_an_event_of_a_node(stage):
    async def work():
        yield stage.ns.Event(message="Begun.")
        yield "done"

    node = stage.ns.node(work, timeout=0.2)
    await _caller_takes_its_time(stage, stage.ns.Workflow(name="wf", edges=[("START", node)]))


@case(differs=EXPERTS_OF_PARTS)
async def an_expert_of_a_part_is_tried_again(stage):
    expert = failing(stage, "expert", "Done.", mode="single_turn", description="Knows.")
    chief = stage.agent("chief", call("expert", request="Help."), "Chief.", sub_agents=[expert])
    await stage.open(stage.ns.SequentialAgent(name="team", sub_agents=[chief]))
    await stage.say()


@case(differs=ENDS_OF_TEAMS)
async def a_late_target_in_an_app_that_can_resume(stage):
    target = late(stage, "target", "Done.", description="Helps.")
    root = stage.agent("root", transfer("target"), "Root.", sub_agents=[target])
    await stage.open(root, resumable=True)
    await stage.say()
    await stage.resume()


# Retries in resumable apps


@case(differs=FAILED_CALLS_TRIED_AGAIN)
async def an_agent_is_tried_again_whose_job_could_not_begin(stage):
    again = stage.ns.RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
    tool = stage.ns.LongRunningFunctionTool(_shaky())
    root = stage.agent("agent", call("shaky"), "Done.", tools=[tool], retry_config=again)
    await stage.open(root, resumable=True)
    await stage.say()


@case(differs=FAILED_CALLS_TRIED_AGAIN)
async def an_agent_is_tried_again_in_a_resumed_run(stage):
    again = stage.ns.RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
    answers = [call("note", key="a", value=1), call("shaky"), call("shaky"), "Done."]
    root = stage.agent("agent", *answers, tools=[note, _shaky()], retry_config=again)
    await stage.open(root, resumable=True)
    await stage.say(leave=1)
    await stage.resume()
