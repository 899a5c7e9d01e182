"""Compaction of old events: when, which, and what models see afterwards."""

import pytest
from google.genai import types
from pydantic import ValidationError

from devui.runtime.agents import LlmAgent, SequentialAgent
from devui.runtime.apps import App, EventsCompactionConfig
from devui.runtime.apps.configs import BaseEventsSummarizer
from devui.runtime.apps.llm_event_summarizer import LlmEventSummarizer
from devui.runtime.events import Event, EventActions
from devui.runtime.events.compactions import compacted
from devui.runtime.events.event_actions import EventCompaction
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from devui.runtime.tools import LongRunningFunctionTool as LongRunning
from tests.kit.conversation import Conversation, answer, call_part, outline, response_part
from tests.kit.work import Work


class Talk(Conversation):
    """A conversation with an app whose history is compacted."""

    def __init__(self, agent, **config):
        super().__init__(agent)
        settings = EventsCompactionConfig(**config)
        app = App(name="app", root_agent=agent, events_compaction_config=settings)
        self.runner = InMemoryRunner(app=app)

    async def say_all(self, *words):
        for word in words:
            await self.say(word)

    async def summaries(self):
        events = (await self.session()).events
        return [e.actions.compaction for e in events if e.actions.compaction]


class Counting(BaseEventsSummarizer):
    """A summarizer that answers with the first text and the number of texts."""

    def __init__(self):
        self.batches = []

    async def maybe_summarize_events(self, *, events):
        event_texts = [text for _, texts in outline([e.content for e in events]) for text in texts]
        self.batches.append(event_texts)
        content = answer(f"<{event_texts[0]}+{len(event_texts)}>")
        return summary(events[0].timestamp, events[-1].timestamp, content)


def summary(start, end, content):
    compaction = EventCompaction(
        start_timestamp=start, end_timestamp=end, compacted_content=content
    )
    return Event(author="user", invocation_id="sum", actions=EventActions(compaction=compaction))


def agent(*rules, **fields):
    rules = rules or [Rule(then=Say("Yes."))]
    return LlmAgent(name="agent", model=ScriptedLlm(rules=rules), **fields)


def request_texts(root):
    return [text for _, texts in outline(root.model.requests[-1].contents) for text in texts]


# Triggered by the number of invocations


async def test_a_summary_replaces_two_invocations():
    root = agent()
    talk = Talk(root, summarizer=Counting(), compaction_interval=2, overlap_size=0)

    await talk.say_all("one", "two", "three")

    assert request_texts(root) == ["<one+4>", "three"]
    events = (await talk.session()).events
    assert [event.author for event in events] == [
        "user", "agent", "user", "agent", "user", "user", "agent",
    ]  # fmt: skip
    assert events[4].content is None
    assert [part.role for part in root.model.requests[-1].contents] == ["model", "user"]


async def test_the_next_summary_overlaps_the_last():
    summarizer = Counting()
    talk = Talk(agent(), summarizer=summarizer, compaction_interval=2, overlap_size=1)

    await talk.say_all("one", "two", "three", "four")

    assert summarizer.batches == [
        ["one", "Yes.", "two", "Yes."],
        ["two", "Yes.", "three", "Yes.", "four", "Yes."],
    ]


async def test_the_summary_is_not_yielded():
    talk = Talk(agent(), summarizer=Counting(), compaction_interval=1, overlap_size=0)

    events = await talk.say("one")

    assert [event.author for event in events] == ["agent"]
    assert len(await talk.summaries()) == 1


async def test_events_shorter_than_the_last_summary_are_not_summarized():
    class Wordy(Counting):
        async def maybe_summarize_events(self, *, events):
            event = await super().maybe_summarize_events(events=events)
            event.actions.compaction.compacted_content = answer("word " * 100)
            return event

    talk = Talk(agent(), summarizer=Wordy(), compaction_interval=1, overlap_size=0)

    await talk.say_all("one", "two")

    assert len(await talk.summaries()) == 1


def wait() -> None:
    """Answer later."""


async def test_a_call_that_waits_for_its_answer_is_not_summarized():
    summarizer = Counting()
    root = agent(
        Rule(user="go", then=Call("wait")),
        Rule(then=Say("Yes.")),
        tools=[LongRunning(wait)],
    )
    talk = Talk(root, summarizer=summarizer, compaction_interval=2, overlap_size=0)

    await talk.say_all("one", "go")

    assert summarizer.batches == [["one", "Yes.", "go"]]


# Triggered by the size of prompts


async def test_above_the_token_threshold_all_but_the_newest_events_are_summarized():
    root = agent(Rule(then=Say("word " * 50)))
    talk = Talk(root, summarizer=Counting(), token_threshold=60, event_retention_size=2)

    await talk.say_all("one", "two", "three")

    first, *_, newest = request_texts(root)
    assert first.strip("<").startswith("one+")
    assert newest == "three"
    assert len(request_texts(root)) <= 3


async def test_a_later_summary_includes_the_earlier_one():
    summarizer = Counting()
    root = agent(Rule(then=Say("word " * 50)))
    talk = Talk(root, summarizer=summarizer, token_threshold=60, event_retention_size=1)

    await talk.say_all("one", "two", "three", "four")

    assert len(summarizer.batches) >= 2
    assert summarizer.batches[1][0].startswith("<one+")
    assert len([text for text in request_texts(root) if text.startswith("<")]) == 1


async def test_small_prompts_are_not_summarized():
    talk = Talk(agent(), summarizer=Counting(), token_threshold=10_000, event_retention_size=0)

    await talk.say_all("one", "two")

    assert await talk.summaries() == []


# The summarizer


async def test_the_agents_model_is_the_default_summarizer():
    root = agent(Rule(user="Sum it up", then=Say("Greetings.")), Rule(then=Say("Hello.")))
    talk = Talk(root, compaction_interval=1, overlap_size=0)

    await talk.say("Hi")

    [summary_event] = await talk.summaries()
    assert outline([summary_event.compacted_content]) == [("model", ["Greetings."])]
    assert request_texts(root)[0].endswith("user: Hi\nagent: Hello.")


async def test_a_failed_summary_does_not_affect_the_run(caplog):
    root = agent(Rule(user="Sum it up", then=Fail(raises=OSError("no"))), Rule(then=Say("Hello.")))
    talk = Talk(root, compaction_interval=1, overlap_size=0)

    assert await talk.say("Hi")

    assert await talk.summaries() == []
    assert "could not be summarized" in caplog.text


async def test_without_a_model_or_summarizer_a_warning_says_what_to_do(caplog):
    root = SequentialAgent(name="steps", sub_agents=[agent()])

    await Talk(root, compaction_interval=1, overlap_size=0).say("Hi")

    assert "Pass a summarizer to EventsCompactionConfig" in caplog.text


async def test_the_summarizers_prompt_has_thoughts_and_tools_but_no_credentials():
    model = ScriptedLlm(rules=[Rule(then=Say("So it was."))])
    events = [
        Event(author="user", message="Hi"),
        Event(author="a", content=answer(types.Part(text="Hm.", thought=True))),
        Event(author="a", content=answer(call_part("look", "1", at="sky"))),
        Event(author="a", content=answer(response_part("look", "1", seen="x" * 3000))),
        Event(author="a", content=answer(call_part("adk_request_credential", "2", key="s3cret"))),
    ]

    event = await LlmEventSummarizer(model).maybe_summarize_events(events=events)

    prompt = model.requests[0].contents[0].parts[0].text
    assert "user: Hi\na (thought): Hm.\na called look({'at': 'sky'})\nlook returned:" in prompt
    assert "characters left out]" in prompt
    assert "s3cret" not in prompt
    assert event.actions.compaction.start_timestamp == events[0].timestamp
    assert event.usage_metadata.prompt_token_count > 0
    assert await LlmEventSummarizer(model).maybe_summarize_events(events=[]) is None


def test_a_prompt_without_a_placeholder_for_the_history_is_refused():
    with pytest.raises(ValueError, match="conversation_history"):
        LlmEventSummarizer(ScriptedLlm(), "Sum up!")


def test_incomplete_or_invalid_settings_are_refused():
    with pytest.raises(ValidationError, match="overlap_size"):
        EventsCompactionConfig(compaction_interval=1)
    with pytest.raises(ValidationError, match="summarizer"):
        EventsCompactionConfig(summarizer=print, compaction_interval=1, overlap_size=0)


async def test_an_agent_without_history_does_not_see_summaries_of_earlier_turns():
    def look() -> int:
        return 1

    rules = [
        Rule(after="look", then=Say("Seen.")),
        Rule(user="look", then=Call("look")),
        Rule(then=Say("A rather long answer.")),
    ]
    root = agent(*rules, include_contents="none", tools=[look])
    talk = Talk(root, summarizer=Counting(), token_threshold=12, event_retention_size=3)

    await talk.say_all("one", "two", "look")

    assert await talk.summaries()
    assert request_texts(root) == ["look", "look()", "look={'result': 1}"]


# What models see


def at(second, *parts, author="agent"):
    return Event(author=author, timestamp=second, content=answer(*parts))


def texts_after(events):
    return [text for _, texts in outline([e.content for e in compacted(events)]) for text in texts]


def test_a_summary_takes_the_place_of_its_events():
    events = [at(1, "a"), at(2, "b"), at(3, "c"), summary(1, 2, answer("<ab>")), at(5, "d")]

    assert texts_after(events) == ["<ab>", "c", "d"]


def test_a_nested_summary_disappears_and_overlapping_ones_stay():
    events = [at(1, "a"), at(2, "b"), summary(1, 2, answer("<ab>"))]
    wider = [*events, at(3, "c"), summary(1, 3, answer("<abc>"))]
    overlapping = [*events, at(3, "c"), summary(2, 3, answer("<bc>"))]

    assert texts_after(wider) == ["<abc>"]
    assert texts_after(overlapping) == ["<ab>", "<bc>"]


def test_the_newer_of_two_summaries_of_the_same_events_counts():
    events = [at(1, "a"), summary(1, 1, answer("<old>")), summary(1, 1, answer("<new>"))]

    assert texts_after(events) == ["<new>"]


def test_a_summarized_call_reappears_for_its_late_response():
    events = [
        at(1, call_part("wait", "1"), call_part("look", "2")),
        at(2, response_part("look", "2", seen="sky")),
        summary(1, 2, answer("<calls>")),
        at(4, response_part("wait", "1", done=True), author="user"),
    ]

    assert texts_after(events) == [
        "<calls>", "wait()", "look()", "look={'seen': 'sky'}", "wait={'done': True}",
    ]  # fmt: skip


def test_summarized_calls_reappear_once_for_responses_in_one_event():
    responses = [response_part("wait", str(index), done=True) for index in (1, 2, 3)]
    events = [
        at(1, *(call_part("wait", str(index)) for index in (1, 2, 3))),
        summary(1, 1, answer("<calls>")),
        at(3, *responses, author="user"),
    ]

    assert texts_after(events) == ["<calls>", *["wait()"] * 3, *["wait={'done': True}"] * 3]


def _summed_up(pairs: int) -> list[Event]:
    """Return the events of a session in which a summary follows every fifth pair."""
    events = []
    for number in range(pairs):
        events.append(Event(author="user", content=answer("hi"), timestamp=number + 0.1))
        if number % 5 == 4:
            summary = EventCompaction(
                start_timestamp=max(0.1, number - 6.9),
                end_timestamp=number + 0.1,
                compacted_content=answer("so far"),
            )
            actions = EventActions(compaction=summary)
            events.append(Event(author="user", timestamp=number + 0.2, actions=actions))
    return events


def test_many_summaries_cost_no_more_per_event_than_few():
    few, many = _summed_up(100), _summed_up(1_000)
    work_of_few, work_of_many = Work(1_000_000), Work(1_000_000)
    work_of_few.of(lambda: compacted(few))
    assert len(work_of_many.of(lambda: compacted(many))) == 200
    assert work_of_many.calls < 12 * work_of_few.calls
