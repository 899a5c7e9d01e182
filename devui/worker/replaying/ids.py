"""Ids are made anew in a replay: which one stands for which recorded one."""

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

_VOLATILE = ("id", "timestamp")
_TIMES = ("startTimestamp", "endTimestamp")


class Ids:
    """Learns from events that are at the same place of their streams."""

    def __init__(self) -> None:
        self._recorded: dict[str, str] = {}
        self._actual: dict[str, str] = {}

    def learn(self, actual: dict[str, Any], recorded: dict[str, Any]) -> None:
        """These two events are to be the same one."""
        for ours, theirs in zip_longest(_ids(actual), _ids(recorded)):
            if ours and theirs and ours != theirs:
                self._recorded.setdefault(ours, theirs)
                self._actual.setdefault(theirs, ours)

    def recorded(self, text: str | None) -> str | None:
        """The text with recorded ids in the place of those of the replay."""
        return _replaced(text, self._recorded)

    def recorded_in(self, value: dict[str, Any]) -> dict[str, Any]:
        """The JSON value with recorded ids in it."""
        if not self._recorded:
            return value
        told: dict[str, Any] = json.loads(_replaced(json.dumps(value), self._recorded) or "")
        return told

    def recorded_surely(self, text: str) -> str:
        """The same; of two ids of the replay that stand for one recorded only the first."""
        sure = {ours: theirs for theirs, ours in self._actual.items()}
        return _replaced(text, sure) or text

    def actual(self, text: str) -> str:
        """The text with ids of the replay in the place of recorded ones."""
        return _replaced(text, self._actual) or text


def comparable(event: dict[str, Any]) -> dict[str, Any]:
    """An event without what differs from run to run: its own id, and times."""
    told = {name: value for name, value in event.items() if name not in _VOLATILE}
    compaction = (told.get("actions") or {}).get("compaction")
    if compaction:
        kept = {name: value for name, value in compaction.items() if name not in _TIMES}
        told["actions"] = {**told["actions"], "compaction": kept}
    return told


def _ids(event: dict[str, Any]) -> Iterator[str | None]:
    yield event.get("id")
    yield event.get("invocationId")
    for part in (event.get("content") or {}).get("parts") or []:
        for name in ("functionCall", "functionResponse"):
            yield (part.get(name) or {}).get("id")


def _replaced(text: str | None, names: dict[str, str]) -> str | None:
    if not text or not names:
        return text
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(pattern, lambda found: names[found[0]], text)
