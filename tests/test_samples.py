"""The samples do what their READMEs promise: every example prompt is run."""

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.agents.run_config import RunConfig, StreamingMode
from devui.runtime.apps import App
from devui.runtime.events import Event
from devui.runtime.runners import InMemoryRunner
from devui.runtime.sessions import Session
from devui.worker.loading import load
from tests.source import ROOT

AGENTS = ROOT / "agents"
NAMES = sorted(path.parent.name for path in AGENTS.glob("*/agent.py"))
USER = "ada"


def prompts(name: str) -> list[str]:
    """Return the fenced blocks below the heading that the start page looks for."""
    text = (AGENTS / name / "README.md").read_text(encoding="utf-8")
    section = re.split(r"^## ", text.split("## Example prompts\n", 1)[1], flags=re.MULTILINE)[0]
    return [block.strip() for block in re.findall(r"```\n(.*?)```", section, re.DOTALL)]


class Conversation:
    """One session with one sample."""

    def __init__(self, runner: InMemoryRunner, session: Session) -> None:
        self.runner = runner
        self.session = session
        self.seen: list[Event] = []
        """The events of the last turn, including partial ones."""
        self.called = asyncio.Event()
        """Set once the model has called a tool."""

    async def say(self, text: str) -> list[Event]:
        """Run one streamed turn and return its events; `seen` has them as they arrive."""
        return await self._send(types.Part(text=text))

    async def answer(self, question: types.FunctionCall, result: object) -> list[Event]:
        """Answer a question of the agent."""
        response = types.FunctionResponse(
            id=question.id, name=question.name, response={"result": result}
        )
        return await self._send(types.Part(function_response=response))

    async def _send(self, part: types.Part) -> list[Event]:
        self.seen = []
        message = types.Content(role="user", parts=[part])
        async for event in self.runner.run_async(
            user_id=USER,
            session_id=self.session.id,
            new_message=message,
            run_config=RunConfig(streaming_mode=StreamingMode.SSE),
        ):
            self.seen.append(event)
            if event.get_function_calls():
                self.called.set()
        return self.seen

    async def stored(self) -> Session:
        session = await self.runner.session_service.get_session(
            app_name=self.runner.app_name, user_id=USER, session_id=self.session.id
        )
        assert session is not None
        return session

    async def another(self) -> "Conversation":
        """Start a new session of the same user."""
        return await begin(self.runner)


async def begin(runner: InMemoryRunner) -> Conversation:
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id=USER)
    return Conversation(runner, session)


@pytest.fixture
def only_scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Load samples afresh, without an API key, and unload them afterwards."""
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for module in [m for m in sys.modules if m.split(".")[0] in NAMES]:
        del sys.modules[module]


async def open_sample(name: str) -> Conversation:
    exported = load(AGENTS, name)
    if isinstance(exported, App):
        return await begin(InMemoryRunner(app=exported))
    return await begin(InMemoryRunner(agent=exported, app_name=name))


def example_of_the_guide() -> Agent:
    """Return the agent that docs/guide/samples.md shows."""
    guide = (ROOT / "docs" / "guide" / "samples.md").read_text(encoding="utf-8")
    code = guide.split("```python\n", 1)[1].split("```", 1)[0]
    names: dict[str, Agent] = {}
    exec(compile(code, "samples.md", "exec", dont_inherit=True), names)
    return names["root_agent"]


def texts(events: list[Event]) -> list[str]:
    return [
        part.text or ""
        for event in events
        if not event.partial and event.content
        for part in event.content.parts or []
        if part.text and not part.thought
    ]


def calls(events: list[Event]) -> list[str]:
    """Return the names of the tools called, without partial events."""
    whole = [event for event in events if not event.partial]
    return [call.name or "" for event in whole for call in event.get_function_calls()]


pytestmark = pytest.mark.usefixtures("only_scripts")


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_says_what_it_shows_and_has_three_prompts(name: str) -> None:
    readme = AGENTS / name / "README.md"
    assert readme.read_text(encoding="utf-8").startswith(f"# {name}\n\n")
    assert len(prompts(name)) == 3
    assert (AGENTS / name / "__init__.py").is_file()
    guide = Path(ROOT / "docs" / "guide" / "samples.md").read_text(encoding="utf-8")
    assert f"`{name}`" in guide


async def play_prompts(conversation: Conversation, *prompts: str) -> None:
    """Send prompts one after another; each gets a final answer with all its templates filled."""
    for prompt in prompts:
        events = await conversation.say(prompt)
        assert events[-1].is_final_response()
        assert texts(events)[-1]
        assert not re.search(r"\{\w+", texts(events)[-1]), "a template was not filled"


@pytest.mark.parametrize("name", sorted({*NAMES} - {"faulty"}))
async def test_every_prompt_is_answered_in_order_and_on_its_own(name: str) -> None:
    first = await open_sample(name)
    others = [(await first.another(), prompt) for prompt in prompts(name)]
    await asyncio.gather(
        play_prompts(first, *prompts(name)),
        *(play_prompts(conversation, prompt) for conversation, prompt in others),
    )


async def test_travel_finds_flights_and_streams_the_answer() -> None:
    travel = await open_sample("travel")
    events = await travel.say(prompts("travel")[0])
    assert calls(events) == ["find_airports", "search_flights", "save_itinerary"]
    responses = [r.response for e in events for r in e.get_function_responses()]
    assert responses[0] == {"result": ["LHR", "LGW", "STN"]}
    assert [e.actions.artifact_delta for e in events if e.actions.artifact_delta] == [
        {"itinerary.txt": 0}
    ]
    answer = [e for e in events if e.partial and not e.get_function_calls()][-20:]
    assert len(answer) == 20
    assert "| DV 326 | 12:40 | 13:30 | € 129 |" in texts(events)[-1]
    state = (await travel.stored()).state
    assert state["city"] == "London"
    assert state["trip"]["day"] == "next Tuesday"
    assert (state["user:searches"], state["app:lookups"]) == (1, 1)
    assert not [key for key in state if key.startswith("temp:")]


async def test_travel_transfers_from_agent_to_agent() -> None:
    travel = await open_sample("travel")
    await travel.say("I need a flight to Tokyo tomorrow.")
    events = await travel.say("Book it and pay with my card")
    transfers = [e.actions.transfer_to_agent for e in events if e.actions.transfer_to_agent]
    assert transfers == ["BookingAgent", "BillingAgent"]
    assert events[-1].author == "BillingAgent"
    assert "EUR 129 paid" in texts(events)[-1]
    assert (await travel.stored()).state["paid"] == 129


async def test_travel_returns_to_the_root_and_remembers_the_user() -> None:
    travel = await open_sample("travel")
    await travel.say("Book it and pay")
    events = await travel.say("I live in Paris, remember that")
    assert events[-1].author == "TravelAgent"
    later = await travel.another()
    await later.say("Fly me to Madrid? A flight to Madrid, please")
    assert (await later.stored()).state["trip"]["from"] == "CDG"


async def test_travel_says_what_it_knows_when_it_does_not_understand() -> None:
    travel = await open_sample("travel")
    events = await travel.say("Book a flight to Atlantis")
    assert calls(events) == []
    assert "London" in texts(events)[-1]


def steps(events: list[Event]) -> list[str]:
    """Return the nodes that had an output, in order."""
    return [event.node_info.name for event in events if event.output is not None]


async def test_refunds_pays_small_amounts_at_once() -> None:
    refunds = await open_sample("refunds")
    events = await refunds.say(prompts("refunds")[0])
    before, beside, after = steps(events)[0], steps(events)[1:3], steps(events)[3:]
    assert before == "read_ticket"
    assert sorted(beside) == ["check_age", "check_price"]
    assert after == ["facts", "assess", "pay"]
    assert texts(events)[-1] == "Good news: € 35 for a lamp are on the way to you."


@pytest.mark.parametrize(
    ("consent", "reply"),
    [(True, "Good news: € 840 for a sofa"), (False, "I am sorry, we cannot refund a sofa.")],
)
async def test_refunds_waits_for_a_manager_before_paying_a_large_amount(
    consent: bool, reply: str
) -> None:
    refunds = await open_sample("refunds")
    first_events = await refunds.say(prompts("refunds")[1])
    [question] = first_events[-1].get_function_calls()
    assert first_events[-1].node_info.path == "refunds@1/ask_manager@1"
    assert "pay" not in steps(first_events)

    events = await refunds.answer(question, consent)

    assert steps(events)[0] == "ask_manager", "what was done is not done again"
    assert events[-1].invocation_id == first_events[-1].invocation_id
    assert texts(events)[-1].startswith(reply)


async def test_field_state_reads_the_committed_value_after_the_yield(
    capsys: pytest.CaptureFixture[str],
) -> None:
    field = await open_sample("field_state")
    events = await field.say("Write value_2 and read it back")
    assert events[0].actions.state_delta == {"field_1": "value_2"}
    assert texts(events)[-1] == "Resumed after the commit: field_1 is now 'value_2'."
    assert "Value of field_1 is now: value_2" in capsys.readouterr().out


async def test_field_state_shows_a_dirty_read(capsys: pytest.CaptureFixture[str]) -> None:
    field = await open_sample("field_state")
    events = await field.say("Show me a dirty read")
    assert "Dirty read value in tool: value_1" in capsys.readouterr().out
    carriers = [e for e in events if e.actions.state_delta == {"field_1": "value_1"}]
    assert len(carriers) == 1
    assert carriers[0].get_function_responses()
    assert texts(await field.say("What is stored now?")) == ["field_1 is 'value_1'."]


async def test_summary_streams_forty_fragments_and_stores_one_answer() -> None:
    summary = await open_sample("summary")
    events = await summary.say(prompts("summary")[0])
    partial = [event for event in events if event.partial]
    assert len(partial) == 40
    assert events[-1].is_final_response()
    assert "".join(e.content.parts[0].text for e in partial) == texts(events)[-1]
    assert [e.author for e in (await summary.stored()).events] == ["user", "SummaryAgent"]


async def test_faulty_tool_raises() -> None:
    faulty = await open_sample("faulty")
    with pytest.raises(ZeroDivisionError):
        await faulty.say("Divide one by zero")
    assert calls(faulty.seen) == ["divide"]


async def test_faulty_model_answers_with_an_error_event() -> None:
    faulty = await open_sample("faulty")
    events = await faulty.say("Trip the safety filter")
    assert events[-1].error_code == "SAFETY_FILTER_TRIGGERED"
    assert events[-1].error_message


async def test_faulty_loops_until_it_is_cancelled() -> None:
    faulty = await open_sample("faulty")
    turn = asyncio.create_task(faulty.say("Loop forever"))
    await faulty.called.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    assert not turn.done()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn


async def test_faulty_loses_a_write_that_was_not_committed() -> None:
    faulty = await open_sample("faulty")
    with pytest.raises(RuntimeError, match="before the commit"):
        await faulty.say("Lose a write")
    assert "draft" not in (await faulty.stored()).state


async def test_story_flow_rewrites_a_sad_story() -> None:
    story = await open_sample("story_flow")
    events = await story.say(prompts("story_flow")[1])
    checkpoints = [e.actions.agent_state for e in events if e.author == "StoryFlowAgent"]
    assert checkpoints == [{"step": 1}, {"step": 2}, {"step": 3}, {"step": 4}, None]
    state = (await story.stored()).state
    assert state["tone_check_result"] == "negative"
    assert state["current_story"] == texts(events)[-1]
    await story.say(prompts("story_flow")[0])
    state = (await story.stored()).state
    assert state["tone_check_result"] == "positive"
    assert "curious robot" in state["current_story"]


async def test_the_example_of_the_guide_works() -> None:
    guide = await begin(InMemoryRunner(agent=example_of_the_guide(), app_name="guide"))
    assert texts(await guide.say("What does seq mean?")) == [
        "**seq**: the number that orders everything."
    ]
    assert texts(await guide.say("Hello")) == ["Ask me what a word means."]
