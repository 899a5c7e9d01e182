"""Agents of mode `single_turn` that wait for the user, alone and beside other calls."""

from functools import partial

from tests.differential.case import Case, add
from tests.differential.cases.delegation import ALONE
from tests.differential.cases.human import CONFIRM, guarded, key_given, knocking
from tests.differential.differing_tools import ASKED_AGAIN
from tests.differential.script import call


def look() -> str:
    """Looks."""
    return "seen"


def wait() -> None:
    """Waits for somebody."""


def _needs(stage, what):
    """Return the expert's tool and a call of it."""
    if what == "consent":
        return guarded(stage), call("pay", amount=3)
    if what == "a credential":
        return knocking(stage), call("knock")
    return stage.ns.LongRunningFunctionTool(wait), call("wait")


def _answer(stage, what):
    if what == "consent":
        return stage.answer(stage.call(CONFIRM), confirmed=True)
    if what == "a credential":
        return key_given(stage)
    return stage.answer(stage.call("wait"), done=True)


async def _expert_waits(stage, what, beside, resumable):
    def after(callback_context):
        stage.note("after", callback_context.agent_name)

    tool, asks = _needs(stage, what)
    expert = stage.agent(
        "expert",
        asks,
        "I know.",
        mode="single_turn",
        description="Knows.",
        tools=[tool],
        after_agent_callback=after,
        **ALONE,
    )
    request = call("expert", request="What?")
    agent = stage.agent(
        "agent",
        [call("look"), request] if beside else request,
        "Done.",
        tools=[look],
        sub_agents=[expert],
        after_agent_callback=after,
    )
    await stage.open(agent, resumable=resumable)
    await stage.say()
    await stage.say(_answer(stage, what))
    await stage.say("next")


for _what in ("consent", "a credential", "a result"):
    for _beside in (False, True):
        for _resumable in (False, True):
            _how = f"{'beside a call' if _beside else 'alone'}, resumable {_resumable}"
            add(
                Case(
                    f"an expert as single_turn waits for {_what}, {_how}",
                    partial(_expert_waits, what=_what, beside=_beside, resumable=_resumable),
                    ASKED_AGAIN,
                )
            )
