"""Which events of a session belong to an invocation (adk-runtime 4.1)."""

from devui.runtime.agents.invocation_events import LatestWords
from devui.runtime.events import Event


class Counted(list):
    """A list that counts how many of its items were asked for."""

    reads = 0

    def __getitem__(self, index):
        self.reads += 1
        return super().__getitem__(index)


def test_the_users_latest_words_are_found_without_reading_a_long_session_or_a_long_turn():
    history = [Event(author="user", invocation_id="old"), Event(author="a", invocation_id="old")]
    said = Event(author="user", invocation_id="now")
    events, words = Counted([*history * 500, said]), LatestWords()
    assert words.among(events, "now") is said
    assert events.reads == 1
    for _ in range(500):
        events.append(Event(author="a", invocation_id="now"))
        assert words.among(events, "now") is said
    assert events.reads == 501
    answer = Event(author="user", invocation_id="now")
    events.append(answer)
    assert words.among(events, "now") is answer
