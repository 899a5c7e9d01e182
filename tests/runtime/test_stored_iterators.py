"""Iterators in stored values: each is read once, and none ends a turn (devui's own)."""

from devui.runtime.events import Event

WHERE = {"app_name": "app", "user_id": "u"}


async def test_a_failing_iterator_loses_neither_its_event_nor_other_values(service, caplog):
    def broken():
        yield 1
        raise KeyError("gone")

    session = await service.create_session(**WHERE, session_id="s")
    delta = {"plan": [map(str, [1]), broken()], "other": 2}
    await service.append_event(session, Event(author="a", state=delta))

    read = await service.get_session(**WHERE, session_id="s")
    [whole, part] = read.state["plan"]
    assert whole == ["1"]
    assert "broken" in part
    assert read.state["other"] == 2
    assert read.events[0].actions.state_delta == read.state == session.state
    assert "gone" in caplog.text


async def test_an_iterator_may_write_to_the_state_that_contains_it(service):
    def counted(state):
        state["count"] = 1
        yield "one"

    session = await service.create_session(**WHERE, session_id="s")
    event = Event(author="a")
    delta, inner = event.actions.state_delta, {}
    inner["it"] = counted(inner)
    delta |= {"it": counted(delta), "inner": inner}
    await service.append_event(session, event)

    read = await service.get_session(**WHERE, session_id="s")
    assert read.state == {"it": ["one"], "count": 1, "inner": {"it": ["one"]}}
