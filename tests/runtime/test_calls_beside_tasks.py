"""Calls that a model makes along with a task: none is lost, in any order (resume seed)."""

from collections import Counter

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent, SequentialAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, LongRunningFunctionTool
from tests.kit.conversation import Conversation, outline, response_part, resumable, said

CONFIRM = "adk_request_confirmation"
APPS = pytest.mark.parametrize("checkpoints", [True, False], ids=["resumable", "not resumable"])
AROUND = pytest.mark.parametrize("around", [False, True], ids=["alone", "in a sequence"])


class Team:
    """An agent that calls a tool and delegates a task at once; `done` counts the tool's calls."""

    def __init__(self, kind: str, *, asks: bool, fails: int = 0, task_first: bool = False) -> None:
        self.done: Counter[str] = Counter()
        self._fails = fails
        rules = [
            Rule(user="big", then=Call("finish_task", result="{user} it is")),
            Rule(then=Say("Which size?") if asks else Call("finish_task", result="ready")),
        ]
        leaf = LlmAgent(
            name="leaf", description="Packs.", mode="task", model=ScriptedLlm(rules=rules)
        )
        calls = [Call("pay"), Call("leaf", request="Pack.")]
        rules = [
            Rule(after="pay", then=Say("All done.")),
            Rule(after="leaf", then=Say("All done.")),
            Rule(then=calls[::-1] if task_first else calls),
        ]
        self.root = LlmAgent(
            name="root",
            model=ScriptedLlm(rules=rules),
            tools=[self._tool(kind)],
            sub_agents=[leaf],
        )
        self.leaf = leaf

    def _tool(self, kind: str) -> FunctionTool:
        def pay() -> str | None:
            """Pay."""
            self.done["tried"] += 1
            if self.done["tried"] <= self._fails:
                raise RuntimeError("down")
            self.done["paid"] += 1
            return None if kind == "job" else "paid"

        if kind == "job":
            return LongRunningFunctionTool(pay)
        return FunctionTool(pay, require_confirmation=kind == "consent")

    def conversation(self, *, checkpoints: bool, around: bool) -> Conversation:
        root: BaseAgent = self.root
        if around:
            tail = LlmAgent(name="tail", model=ScriptedLlm(rules=[Rule(then=Say("The end."))]))
            root = SequentialAgent(name="steps", sub_agents=[root, tail])
        return resumable(root, yes=checkpoints)

    def results(self) -> dict[str, object]:
        """Return the results of its calls as the root's model last saw them."""
        parts = [part for each in self.root.model.requests[-1].contents for part in each.parts]
        responses = [part.function_response for part in parts if part.function_response]
        return {each.name: each.response for each in responses}


def find_call(conversation: Conversation, name: str = CONFIRM) -> types.FunctionCall:
    calls = [call for event in conversation.heard for call in event.get_function_calls()]
    return next(call for call in reversed(calls) if call.name == name)


async def consent(conversation: Conversation) -> None:
    question = find_call(conversation)
    await conversation.say(types.UserContent(response_part(CONFIRM, question.id, confirmed=True)))


async def resume(conversation: Conversation) -> None:
    where = {"user_id": "user", "session_id": "s"}
    invocation_id = conversation.heard[0].invocation_id
    async for event in conversation.runner.run_async(**where, invocation_id=invocation_id):
        conversation.heard.append(event)


def texts(conversation: Conversation) -> list[str]:
    return [text for event in conversation.heard if (text := said(event))]


@APPS
@AROUND
async def test_a_confirmation_is_accepted_after_the_task_has_ended(checkpoints, around):
    team = Team("consent", asks=False)
    conversation = team.conversation(checkpoints=checkpoints, around=around)

    await conversation.say("Go!")
    assert not around or "The end." not in texts(conversation)
    await consent(conversation)

    assert team.done["paid"] == 1
    assert team.results() == {"pay": {"result": "paid"}, "leaf": {"result": "ready"}}
    assert texts(conversation)[-1] == ("The end." if around else "All done.")
    assert texts(conversation).count("The end.") == around


@APPS
@AROUND
async def test_a_long_running_call_is_answered_after_the_task(checkpoints, around):
    team = Team("job", asks=False)
    conversation = team.conversation(checkpoints=checkpoints, around=around)

    await conversation.say("Go!")
    job = find_call(conversation, "pay")
    await conversation.say(types.UserContent(response_part("pay", job.id, paid=3)))

    assert team.results() == {"pay": {"paid": 3}, "leaf": {"result": "ready"}}
    assert texts(conversation).count("The end.") == around


@APPS
@AROUND
@pytest.mark.parametrize("first", ["the consent", "the words"])
async def test_the_call_and_the_task_can_be_answered_in_any_order(first, checkpoints, around):
    team = Team("consent", asks=True)
    conversation = team.conversation(checkpoints=checkpoints, around=around)

    await conversation.say("Go!")
    if first == "the consent":
        await consent(conversation)
        await conversation.say("big")
    else:
        await conversation.say("big")
        await consent(conversation)

    assert team.done["paid"] == 1
    assert team.results() == {"pay": {"result": "paid"}, "leaf": {"result": "big it is"}}
    assert texts(conversation).count("Which size?") == 1
    assert texts(conversation)[-1] == ("The end." if around else "All done.")
    assert texts(conversation).count("The end.") == around


@APPS
async def test_a_confirmation_is_not_a_message_to_the_task(checkpoints):
    team = Team("consent", asks=True)
    conversation = team.conversation(checkpoints=checkpoints, around=False)

    await conversation.say("Go!")
    await consent(conversation)

    assert team.done["paid"] == 1
    assert len(team.leaf.model.requests) == 1
    assert len(team.root.model.requests) == 1


async def test_a_confirmed_tool_that_failed_is_rerun_on_resume():
    team = Team("consent", asks=False, fails=1)
    conversation = team.conversation(checkpoints=True, around=True)

    await conversation.say("Go!")
    with pytest.raises(RuntimeError, match="down"):
        await consent(conversation)
    await resume(conversation)

    assert team.done == {"tried": 2, "paid": 1}
    assert texts(conversation) == ["All done.", "The end."]


async def test_a_confirmed_tool_that_failed_is_rerun_on_the_next_message():
    team = Team("consent", asks=True, fails=1)
    conversation = team.conversation(checkpoints=True, around=True)

    await conversation.say("Go!")
    with pytest.raises(RuntimeError, match="down"):
        await consent(conversation)
    await conversation.say("big")

    assert team.done == {"tried": 2, "paid": 1}
    assert texts(conversation) == ["Which size?", "All done.", "The end."]


@APPS
@pytest.mark.parametrize("task_first", [False, True])
async def test_a_tool_that_failed_beside_a_task_is_rerun_before_the_task(task_first, checkpoints):
    team = Team("plain", asks=True, fails=1, task_first=task_first)
    conversation = team.conversation(checkpoints=checkpoints, around=False)

    with pytest.raises(RuntimeError, match="down"):
        await conversation.say("Go!")
    await resume(conversation)
    assert [brief for _, [brief] in outline([e.content for e in conversation.heard[2:]])] == [
        "pay={'result': 'paid'}",
        "Which size?",
    ]
    await conversation.say("big")

    assert team.done == {"tried": 2, "paid": 1}
    assert team.results() == {"pay": {"result": "paid"}, "leaf": {"result": "big it is"}}
