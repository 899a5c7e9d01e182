"""The in-memory session service (adk-runtime 2.3, 2.4)."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.runtime.errors import AlreadyExistsError, SessionNotFoundError
from devui.runtime.events import Event
from devui.runtime.sessions import InMemorySessionService, Session, SqliteSessionService
from devui.runtime.sessions.base_session_service import GetSessionConfig

WHERE = {"app_name": "app", "user_id": "u"}


async def new_session(
    state: dict | None = None, **kwargs
) -> tuple[InMemorySessionService, Session]:
    service = InMemorySessionService()
    return service, await service.create_session(**WHERE, state=state, session_id="s", **kwargs)


async def reread(service: InMemorySessionService, **config) -> Session:
    get_config = GetSessionConfig(**config) if config else None
    session = await service.get_session(**WHERE, session_id="s", config=get_config)
    assert session is not None
    return session


async def test_ids_are_stripped_and_blank_ones_replaced():
    service = InMemorySessionService()
    assert (await service.create_session(**WHERE, session_id="  s ")).id == "s"
    assert len((await service.create_session(**WHERE, session_id="  ")).id) == 36
    assert (await service.get_session(**WHERE, session_id=" s ")).id == "s"


@pytest.mark.parametrize("method", ["get_session", "delete_session"])
async def test_without_an_id_no_session_is_found(method: str):
    for service in (InMemorySessionService(), SqliteSessionService(":memory:")):
        await service.create_session(**WHERE, session_id="s")
        assert await getattr(service, method)(**WHERE, session_id=None) is None
        with pytest.raises(TypeError, match=r"`session_id` is 5 \(int\); pass the `id`"):
            await getattr(service, method)(**WHERE, session_id=5)
        assert len((await service.list_sessions(app_name="app")).sessions) == 1


async def test_an_id_can_be_used_only_once():
    service, _ = await new_session()
    with pytest.raises(AlreadyExistsError, match="'s'"):
        await service.create_session(**WHERE, session_id="s")


async def test_a_missing_session_is_none_and_can_be_deleted():
    service = InMemorySessionService()
    assert await service.get_session(**WHERE, session_id="s") is None
    await service.delete_session(**WHERE, session_id="s")


async def test_initial_state_is_routed_by_prefix():
    service, session = await new_session({"a": 1, "user:b": 2, "app:c": 3, "temp:d": 4})
    assert session.state == {"a": 1, "user:b": 2, "app:c": 3}
    assert (service.user_state, service.app_state) == ({"app": {"u": {"b": 2}}}, {"app": {"c": 3}})
    assert await service.get_user_state(**WHERE) == {"b": 2}
    other = await service.create_session(app_name="app", user_id="v")
    assert other.state == {"app:c": 3}


async def test_an_event_commits_its_delta_by_scope():
    service, session = await new_session()
    event = Event(state={"a": 1, "user:b": 2, "app:c": 3, "temp:d": 4}, timestamp=7.0)
    assert await service.append_event(session, event) is event
    assert session.state == {"a": 1, "user:b": 2, "app:c": 3, "temp:d": 4}
    assert event.actions.state_delta == {"a": 1, "user:b": 2, "app:c": 3}
    reread_session = await reread(service)
    assert reread_session.state == {"a": 1, "user:b": 2, "app:c": 3}
    assert reread_session.last_update_time == session.last_update_time == 7.0
    assert [e.id for e in reread_session.events] == [event.id]


async def test_a_partial_event_leaves_no_trace():
    service, session = await new_session()
    event = Event(state={"a": 1, "temp:b": 2}, partial=True)
    assert await service.append_event(session, event) is event
    assert event.actions.state_delta == {"a": 1, "temp:b": 2}
    assert (session.events, session.state) == ([], {})
    assert (await reread(service)).events == []


async def test_appending_to_a_missing_session_is_an_error():
    service, session = await new_session()
    await service.delete_session(**WHERE, session_id="s")
    with pytest.raises(SessionNotFoundError, match="'s'"):
        await service.append_event(session, Event())


async def test_appending_the_same_event_twice_stores_it_once():
    service, session = await new_session()
    event = Event(state={"n": 1})
    await service.append_event(session, event)
    await service.append_event(session, event)
    await service.append_event(session, event.model_copy(deep=True))
    assert len((await reread(service)).events) == len(session.events) == 1


async def test_another_event_with_the_same_id_is_kept():
    service, session = await new_session()
    await service.append_event(session, Event(id="x", author="a"))
    await service.append_event(session, Event(id="x", author="b"))
    assert [e.author for e in (await reread(service)).events] == ["a", "b"]


async def test_changes_to_a_returned_session_do_not_reach_the_store():
    service, session = await new_session({"cart": {"items": []}, "user:tags": ["x"]})
    session.state["cart"]["items"].append("apple")
    session.state["user:tags"].append("y")
    session.state["new"] = 1
    session.events.append(Event())
    reread_session = await reread(service)
    assert reread_session.state == {"cart": {"items": []}, "user:tags": ["x"]}
    assert reread_session.events == []


async def test_a_later_change_in_place_does_not_rewrite_history():
    service, session = await new_session()
    cart = ["apple"]
    event = Event(state={"cart": cart})
    await service.append_event(session, event)
    session.state["cart"].append("pear")
    assert session.state["cart"] is cart
    assert event.actions.state_delta == {"cart": ["apple"]}
    assert (await reread(service)).state == {"cart": ["apple"]}


async def test_a_stale_copy_may_append():
    service, session = await new_session()
    stale = await reread(service)
    await service.append_event(session, Event(author="a", state={"n": 1}))
    await service.append_event(stale, Event(author="b", state={"m": 2}))
    assert [e.author for e in stale.events] == ["b"]
    reread_session = await reread(service)
    assert [e.author for e in reread_session.events] == ["a", "b"]
    assert reread_session.state == {"n": 1, "m": 2}


async def test_none_is_stored_as_a_value():
    service, session = await new_session({"a": 1})
    await service.append_event(session, Event(state={"a": None}))
    assert (await reread(service)).state == {"a": None}


async def test_a_session_can_be_read_in_part():
    service, session = await new_session()
    for moment in (1.0, 2.0, 3.0):
        await service.append_event(session, Event(author=str(moment), timestamp=moment))

    async def authors(**config) -> list[str]:
        return [event.author for event in (await reread(service, **config)).events]

    assert await authors(num_recent_events=2) == ["2.0", "3.0"]
    assert await authors(num_recent_events=0) == []
    assert await authors(num_recent_events=9) == ["1.0", "2.0", "3.0"]
    assert await authors(after_timestamp=2.0) == ["2.0", "3.0"]
    assert await authors(after_timestamp=4.0) == []
    assert await authors(num_recent_events=1, after_timestamp=2.0) == ["3.0"]
    with pytest.raises(ValueError):
        GetSessionConfig(num_recent_events=-1)


async def test_lists_are_ordered_by_change_and_have_no_events():
    service = InMemorySessionService()
    for user, name, moment in (("u", "b", 2.0), ("u", "a", 1.0), ("v", "c", 1.0)):
        session = await service.create_session(app_name="app", user_id=user, session_id=name)
        await service.append_event(session, Event(timestamp=moment, state={"user:k": user}))
    everyone = (await service.list_sessions(app_name="app")).sessions
    assert [(s.id, s.events, s.state) for s in everyone] == [
        ("a", [], {"user:k": "u"}),
        ("c", [], {"user:k": "v"}),
        ("b", [], {"user:k": "u"}),
    ]
    mine = (await service.list_sessions(app_name="app", user_id="v")).sessions
    assert [s.id for s in mine] == ["c"]
    assert (await service.list_sessions(app_name="other")).sessions == []


async def test_events_are_shared_and_not_copied():
    service, session = await new_session()
    event = Event(author="a")
    await service.append_event(session, event)
    assert (await reread(service)).events[0] is event


async def calls_of_a_turn(history: int) -> int:
    """Return how many functions are called to reread a session and append an event."""
    service, session = await new_session()
    for number in range(history):
        await service.append_event(session, Event.model_construct(id=str(number), timestamp=1.0))
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    added = Event()
    sys.setprofile(count)
    await service.append_event(await reread(service), added)
    sys.setprofile(None)
    return calls


async def test_a_long_history_does_not_slow_down_reading_or_appending():
    await calls_of_a_turn(1)  # one-time work
    assert await calls_of_a_turn(10_000) < 2 * await calls_of_a_turn(10)


def test_a_session_uses_camel_case_on_the_wire():
    session = Session(id="s", app_name="a", user_id="u", last_update_time=1.0)
    assert session.model_dump_json(by_alias=True) == (
        '{"id":"s","appName":"a","userId":"u","state":{},"events":[],"lastUpdateTime":1.0}'
    )


keys = st.sampled_from(["a", "b", "user:c", "app:d", "temp:e"])


@given(deltas=st.lists(st.dictionaries(keys, st.integers() | st.none(), max_size=4), max_size=8))
async def test_the_stored_state_is_the_fold_of_the_deltas(deltas):
    service, session = await new_session()
    state: dict = {}
    for delta in deltas:
        await service.append_event(session, Event(state=delta))
        state.update(delta)
    assert session.state == state
    stored_state = {k: v for k, v in state.items() if not k.startswith("temp:")}
    assert (await reread(service)).state == stored_state


@pytest.mark.filterwarnings("ignore:Await the method")
def test_sync_methods_do_the_same_and_warn():
    service, where = InMemorySessionService(), {"app_name": "app", "user_id": "u"}
    session = service.create_session_sync(**where, state={"a": 1}, session_id="s")
    assert session.state == {"a": 1}
    assert service.get_session_sync(**where, session_id="s").id == "s"
    assert [each.id for each in service.list_sessions_sync(**where).sessions] == ["s"]
    service.delete_session_sync(**where, session_id="s")
    assert service.get_session_sync(**where, session_id="s") is None
    with pytest.warns(DeprecationWarning, match="Await the method without `_sync`"):
        service.list_sessions_sync(**where)
