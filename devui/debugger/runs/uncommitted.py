"""State that a run has written and not committed, who has read it, and how each write ended."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal

from devui.store.rows import NewEvent, NewTouch, TouchRow
from devui.store.summaries import StateNote
from devui.wire.uncommitted import CommittedTouches, StateTouch

Outcome = Literal["pending", "committed", "overwritten", "lost"]
"""How a write ended. `overwritten`: its writer wrote the key again before the commit."""


@dataclass(frozen=True, slots=True)
class TouchOutcome:
    """An uncommitted write, or a read of one, and its outcome."""

    touch: StateTouch
    outcome: Outcome
    """The outcome of the write; for a read, of the write that was read."""
    event: int | None
    """The number of the event that committed the write, or that the reader made."""
    flagged: int | None
    """The number of the event whose commit revealed that the value was changed without a delta."""

    @property
    def who(self) -> str:
        """Who wrote or read it, in words."""
        return who(self.touch)


def who(touch: StateTouch) -> str:
    """Return the agent, with its tool or callback if there is one."""
    if not touch.agent:
        return "code outside any known agent"
    tool = f"tool {touch.tool}" if touch.tool else ""
    part = " of ".join(filter(None, (touch.role, tool)))
    return f"{touch.agent} ({part})" if part else touch.agent


_FIELDS: Final = frozenset(each.name for each in fields(StateTouch))


def touch_outcomes(rows: Iterable[TouchRow], *, over: bool) -> list[TouchOutcome]:
    """Return the touches of one run with their outcomes. If the run is `over`, pending writes are
    lost."""
    touches = [(row, _touch(row.data)) for row in rows]
    outcomes = {touch.number: _outcome(touch, row.event, over=over) for row, touch in touches}
    return [
        TouchOutcome(
            touch, outcomes.get(touch.reads or touch.number, "lost"), row.event, row.flagged
        )
        for row, touch in touches
    ]


def _touch(data: str) -> StateTouch:
    """Parse a touch without unknown fields, which a bundle of a newer devui may have."""
    return StateTouch(**{k: v for k, v in json.loads(data).items() if k in _FIELDS})


def _outcome(touch: StateTouch, event: int | None, *, over: bool) -> Outcome:
    if touch.overwritten:
        return "overwritten"
    if event is not None:
        return "committed"
    return "lost" if touch.lost or over else "pending"


class Touches:
    """The uncommitted state that a run in progress has reported."""

    def __init__(self) -> None:
        self._touches: dict[int, StateTouch] = {}
        self._events: dict[int, str] = {}
        """The id of the event that carries a touch, by the touch's number."""
        self._flagged: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        """The number of a committed event, by its id."""
        self._unwritten: dict[int, None] = {}
        self._last: dict[str, tuple[str | None, str]] = {}
        """By state key: the branch and the writer that committed it last in this run."""
        self.read = False
        """Whether anything was read before it was committed."""

    def __len__(self) -> int:
        """How many touches wait to be written."""
        return len(self._unwritten)

    def take(self, touch: StateTouch) -> None:
        """Add a write or a read, or update it."""
        self._touches[touch.number] = touch
        self._unwritten[touch.number] = None
        self.read = self.read or touch.reads is not None
        if touch.event:
            self._events[touch.number] = touch.event
        else:  # a committed touch isn't reported again, so this one isn't committed
            self._events.pop(touch.number, None)

    def carry(self, event: NewEvent, touches: CommittedTouches | None) -> NewEvent:
        """Note which touches an event settles with its commit; return the event with its notes."""
        report = touches or CommittedTouches()
        for number in [n for n, name in self._events.items() if name == event.id]:
            self._unwritten[number] = None
            touch = self._touches.get(number)
            if touch is None or touch.event != event.id:  # the touch names its event only once
                del self._events[number]
        for number in (*report.settles, *report.reads):
            self._events[number] = event.id
            self._unwritten[number] = None
        for number in report.flags:
            self._flagged[number] = event.id
            self._unwritten[number] = None
        notes = tuple(self._notes(event, report))
        if not notes:
            return event
        summary = replace(event.summary, notes=notes)
        return replace(event, summary_json=summary.to_json())

    def committed(self, event: NewEvent, number: int) -> None:
        """Record the number of a committed event and the writers of its keys."""
        self._numbers[event.id] = number
        for key in event.state_delta:
            self._last[key] = self._writer(event, key)

    def waiting(self) -> list[NewTouch]:
        """Remove what waits to be written, and return it."""
        numbers, self._unwritten = self._unwritten, {}
        return [
            NewTouch(
                number=number,
                event=self._events.get(number),
                flagged=self._flagged.get(number),
                data=json.dumps(asdict(self._touches[number])),
            )
            for number in numbers
            if number in self._touches
        ]

    def rows(self, run: str, session: int) -> list[TouchRow]:
        """Return all touches as the journal will return them."""
        return [
            TouchRow(
                run,
                number,
                session,
                json.dumps(asdict(touch)),
                self._numbers.get(self._events.get(number, "")),
                self._numbers.get(self._flagged.get(number, "")),
            )
            for number, touch in sorted(self._touches.items())
        ]

    def _notes(self, event: NewEvent, touches: CommittedTouches) -> Iterator[StateNote]:
        for number in touches.reads:
            write = self._touches.get(self._touches[number].reads or 0)
            if write is not None:
                yield StateNote("dirty", write.key, who(write))
        for number in touches.flags:
            touch = self._touches[number]
            for path in touch.paths:
                yield StateNote("silent", path, who(touch))
        for key in event.state_delta:
            if other := self._beside(event, key, touches):
                yield StateNote("overlap", key, other)

    def _beside(self, event: NewEvent, key: str, touches: CommittedTouches) -> str:
        """Return who else wrote the key at the same time, in a parallel branch or another call."""
        for number in touches.settles:
            touch = self._touches[number]
            if touch.key == key and touch.overlaps in self._touches:
                return who(self._touches[touch.overlaps])
        branch, author = self._last.get(key, (None, ""))
        return author if beside(branch, self._writer(event, key)[0]) else ""

    def _writer(self, event: NewEvent, key: str) -> tuple[str | None, str]:
        """Return the branch and the name of whoever wrote the key in this event."""
        for number, name in self._events.items():
            touch = self._touches.get(number)
            if name == event.id and touch and touch.key == key and touch.reads is None:
                return touch.branch, who(touch)
        return event.branch, event.author


def beside(one: str | None, other: str | None) -> bool:
    """Whether two branches are parallel: below the same agent, with neither above the other."""
    mine, yours = (one or "").split("."), (other or "").split(".")
    common = min(len(mine), len(yours))
    return mine[0] == yours[0] != "" and mine[:common] != yours[:common]


def touch_json(item: TouchOutcome, run: str) -> dict[str, Any]:
    """Return the touch as JSON for programs."""
    touch = item.touch
    common: Mapping[str, Any] = {
        "run": run,
        "number": touch.number,
        "key": touch.key,
        "agent": touch.agent,
        "branch": touch.branch,
        "tool": touch.tool,
        "call": touch.call,
        "role": touch.role,
        "place": touch.place,
        "at": touch.at,
        "outcome": item.outcome,
        "event": item.event,
    }
    if touch.reads is not None:
        return {**common, "reads": touch.reads}
    return {
        **common,
        "old": _parse(touch.old),
        "value": _parse(touch.value),
        "paths": touch.paths,
        "flagged": item.flagged,
        "overlaps": touch.overlaps,
    }


def _parse(text: str | None) -> Any:
    """Return the value of a JSON text, or the text itself if a bundle left parts of it out."""
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return text
