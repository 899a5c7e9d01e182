"""Events are marked as rewound if and only if the runtime leaves them out."""

from hypothesis import given
from hypothesis import strategies as st

from devui.debugger.history.rewinds import EffectiveRewinds
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.events.rewinds import live_events
from devui.store.rows import Rewind

STEPS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=25)
"""Per step: an event of an invocation, or a rewind to before it, with an invocation of its own."""


def events(steps: list[tuple[int, bool]]) -> list[Event]:
    events = []
    for place, (which, back) in enumerate(steps):
        name = (
            f"r{which}" if back and which % 2 else f"i{which}"
        )  # some rewind to before another rewind
        actions = EventActions(rewind_before_invocation_id=name) if back else EventActions()
        own = f"r{place % 6}" if back else f"i{which}"
        events.append(Event(author="user", invocation_id=own, actions=actions))
    return events


def rewinds(history: list[Event]) -> list[Rewind]:
    rewinds = []
    for number, event in enumerate(history, 1):
        name = event.actions.rewind_before_invocation_id
        if name is not None:
            numbers = (n for n, e in enumerate(history[: number - 1], 1) if e.invocation_id == name)
            rewinds.append(Rewind(number, next(numbers, number)))
    return rewinds


@given(STEPS)
def test_an_event_is_marked_as_rewound_if_the_runtime_leaves_it_out(steps):
    history = events(steps)
    rewound = EffectiveRewinds.of(rewinds(history))
    live_ids = [id(event) for event in live_events(history)]
    for number, event in enumerate(history, 1):
        holds = number in {rewind.number for rewind in rewound.holding}
        assert (id(event) in live_ids) is (rewound.by(number) is None and not holds)


def test_undoing_a_rewind_restores_its_events():
    rewound = EffectiveRewinds.of([Rewind(5, 3), Rewind(6, 5)])
    assert [rewound.by(number) for number in range(1, 7)] == [None, None, None, None, 6, None]
    rewound = EffectiveRewinds.of([Rewind(5, 3), Rewind(9, 2)])
    assert [rewound.by(number) for number in (1, 2, 3, 5, 8, 9)] == [None, 9, 9, 9, 9, None]
