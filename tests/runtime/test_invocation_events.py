"""Which events of a session belong to an invocation (adk-runtime 4.1)."""

from google.genai import types

from devui.runtime.agents.invocation_context import LatestAnswer
from devui.runtime.events import Event


class Counted(list):
    """A list that counts how many of its items were asked for."""

    reads = 0

    def __getitem__(self, index):
        self.reads += 1
        return super().__getitem__(index)


def _answer() -> Event:
    response = types.FunctionResponse(id="1", name="ask", response={})
    content = types.Content(role="user", parts=[types.Part(function_response=response)])
    return Event(author="user", invocation_id="now", content=content)


def test_the_latest_answer_is_found_without_reading_the_whole_session():
    history = [Event(author="user", invocation_id="old"), Event(author="a", invocation_id="old")]
    answer = _answer()
    events, latest = Counted([*history * 500, answer]), LatestAnswer()
    assert latest.among(events, "now") is answer
    assert events.reads == 1
    for _ in range(500):
        events.append(Event(author="a", invocation_id="now"))
        assert latest.among(events, "now") is answer
    assert events.reads == 501
    another = _answer()
    events.append(another)
    assert latest.among(events, "now") is another


def test_a_message_that_answers_no_call_makes_the_latest_answer_none():
    events, latest = Counted([_answer()]), LatestAnswer()
    assert latest.among(events, "now") is events[0]
    events.append(Event(author="user", invocation_id="now"))
    assert latest.among(events, "now") is None
    events.reads = 0
    assert latest.among(events, "now") is None
    assert events.reads == 0


def test_an_answer_to_another_invocation_is_ignored():
    events = [_answer()]
    assert LatestAnswer().among(events, "other") is None
    latest = LatestAnswer()
    assert latest.among(events, "now") is events[0]
    assert latest.among([Event(author="a", invocation_id="now")], "now") is None
