"""Late results of a long-running call while another agent waits for the user (resume seed)."""

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.models import BaseLlm, LlmResponse
from devui.runtime.tools import FunctionTool, LongRunningFunctionTool
from devui.runtime.workflow import Workflow
from tests.kit.conversation import answer, call_part, response_part, resumable, said

CONFIRM = "adk_request_confirmation"


class Speaker(BaseLlm):
    """A model that says its lines in order."""

    lines: list[types.Part]

    async def generate_content_async(self, llm_request, stream=False):
        content = types.Content(role="model", parts=[self.lines.pop(0)])
        yield LlmResponse(content=content)


def speaker(*lines):
    parts = [types.Part(text=line) if isinstance(line, str) else line for line in lines]
    return Speaker(model="speaker", lines=parts)


class Office:
    """An agent that waits for a job, one that needs a confirmation, and one after them."""

    def __init__(self) -> None:
        self.paid = 0

    async def pay(self) -> str:
        """Pay."""
        self.paid += 1
        return "paid"

    def agents(self):
        def job() -> None:
            """Begin a job."""

        worker = speaker(call_part("job"), "Half done.", "Done.")
        payer = speaker(call_part("pay"), "Paid.", "Paid?")
        pay = FunctionTool(self.pay, require_confirmation=True)
        return [
            LlmAgent(name="worker", model=worker, tools=[LongRunningFunctionTool(job)]),
            LlmAgent(name="payer", model=payer, tools=[pay]),
            LlmAgent(name="clerk", model=speaker("Filed.")),
        ]

    def sequence(self):
        return SequentialAgent(name="all", sub_agents=self.agents())

    def loop(self):
        return LoopAgent(name="all", sub_agents=self.agents(), max_iterations=1)

    def beside(self):
        other = LlmAgent(name="other", model=speaker("Hi."))
        return ParallelAgent(name="both", sub_agents=[self.sequence(), other])

    def node(self):
        return Workflow(name="wf", edges=[("START", self.sequence())])

    def node_of_a_loop(self):
        return Workflow(name="wf", edges=[("START", self.loop())])


def _find_call(events, name):
    calls = [call for event in events for call in event.get_function_calls()]
    return next(call for call in calls if call.name == name)


@pytest.mark.parametrize("yes", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("kind", ["sequence", "loop", "beside", "node", "node_of_a_loop"])
async def test_a_late_result_reaches_only_the_agent_that_made_the_call(kind, yes):
    office = Office()
    talk = resumable(getattr(office, kind)(), yes=yes)
    job = _find_call(await talk.say("go"), "job")
    consent = _find_call(
        await talk.say(answer(response_part("job", job.id, status="half"))), CONFIRM
    )
    news = await talk.say(answer(response_part("job", job.id, status="done")))
    assert {event.author for event in news if event.content} <= {"worker"}
    last = await talk.say(answer(response_part(CONFIRM, consent.id, confirmed=True)))
    assert [text for event in last if (text := said(event))] == ["Paid.", "Filed."]
    assert office.paid == 1
