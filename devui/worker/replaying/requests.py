"""Whether a model is asked what it was asked when the run was recorded."""

import json
from collections.abc import Mapping
from typing import Any

from devui.runtime.models.llm_request import LlmRequest
from devui.wire.recordings import Asked, FieldDifference
from devui.worker.prompts import Prompts
from devui.worker.replaying.differences import differences
from devui.worker.replaying.ids import Ids

_PARTS = ("system", "tools", "config")


class SentNow:
    """A request of the replay, in the form of a recorded one."""

    def __init__(self, request: LlmRequest, *, stream: bool) -> None:
        prompt = Prompts().of(0, request, stream=stream)
        self._texts = prompt.pieces
        self.asked = Asked(
            model=prompt.model,
            stream=prompt.stream,
            system=prompt.system,
            tools=prompt.tools,
            config=prompt.config,
            contents=prompt.contents,
        )

    def told(self, ids: Ids) -> dict[str, Any]:
        """The request in full, with recorded ids where they are known."""
        pieces = {name: json.loads(ids.recorded(text) or "") for name, text in self._texts.items()}
        return request_in_full(self.asked, pieces)

    def other_than(self, expected: dict[str, Any], ids: Ids, *, told: bool) -> dict[str, Any]:
        """What differs from a recorded request, as fields of a `Divergence`; empty if nothing."""
        actual = self.told(ids)
        found = request_differences(expected, actual, told=told)
        return {"expected": expected, "actual": actual, "differences": found} if found else {}


def request_in_full(asked: Asked, pieces: Mapping[str, Any]) -> dict[str, Any]:
    """A request with its pieces in the place of their names."""

    def piece(name: str | None) -> Any:
        return None if name is None else pieces.get(name)

    return {
        "model": asked.model,
        "stream": asked.stream,
        **{part: piece(getattr(asked, part)) for part in _PARTS},
        "contents": [piece(name) for name in asked.contents],
    }


def request_differences(
    expected: dict[str, Any], actual: dict[str, Any], *, told: bool = True
) -> list[FieldDifference]:
    """The fields in which two requests differ.

    Without `told`, what was told to the model does not count, in system instruction and contents:
    a live tool gave another result, and agents tell of results in many ways.
    """
    if not told:
        kept = ("model", "stream", "tools", "config")
        expected, actual = ({name: each[name] for name in kept} for each in (expected, actual))
    return differences(expected, actual)


def without_results(value: Any) -> Any:
    """The value without what function responses say."""
    if isinstance(value, list):
        return [without_results(each) for each in value]
    if not isinstance(value, dict):
        return value
    told = {name: without_results(each) for name, each in value.items()}
    if isinstance(told.get("functionResponse"), dict):
        told["functionResponse"] = {**told["functionResponse"], "response": None}
    return told
