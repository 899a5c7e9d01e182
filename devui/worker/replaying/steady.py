"""Gives what is as before in a new recording its old ids, times and names.

So what a version control system shows of it is what the run does otherwise, and nothing else.
"""

import json
from collections import defaultdict, deque
from dataclasses import replace
from typing import Any

from devui.wire.framing import codecs
from devui.wire.pieces import piece_name
from devui.wire.recordings import Asked, RecordedCall, Recording
from devui.worker.replaying.ids import Ids, comparable
from devui.worker.replaying.requests import request_in_full


def steadied(made: Recording, old: Recording, ids: Ids) -> Recording:
    """The new recording; `ids` has learned which new id stands for which old one."""
    named = _with_old_names(_with_old_ids(made, ids), old, ids)
    return replace(
        named,
        calls=_calls(named, old),
        fragments=_fragments(named.fragments, old.fragments),
        events=[
            old.events[place] if _is_event(old, place, event) else event
            for place, event in enumerate(named.events)
        ],
    )


def _with_old_ids(made: Recording, ids: Ids) -> Recording:
    text = codecs().RECORDING.dump(replace(made, pieces={}, history=[])).decode()
    told: Recording = codecs().RECORDING.load(ids.recorded_surely(text).encode())
    return replace(told, pieces=made.pieces, history=made.history)


def _with_old_names(made: Recording, old: Recording, ids: Ids) -> Recording:
    """Pieces of requests that say the same are the same piece."""
    known = {_text(value): name for name, value in old.pieces.items()}
    names, pieces = {}, {}
    for name, value in made.pieces.items():
        before = _text(value)
        text = ids.recorded_surely(before)
        names[name] = known.get(text) or (name if text == before else piece_name(text))
        pieces[names[name]] = json.loads(text)
    calls = [replace(call, request=_renamed(call.request, names)) for call in made.calls]
    return replace(made, calls=calls, pieces=dict(sorted(pieces.items())))


def _renamed(asked: Asked | None, names: dict[str, str]) -> Asked | None:
    if asked is None:
        return None
    return replace(
        asked,
        system=asked.system and names[asked.system],
        tools=asked.tools and names[asked.tools],
        config=asked.config and names[asked.config],
        contents=[names[name] for name in asked.contents],
    )


def _calls(made: Recording, old: Recording) -> list[RecordedCall]:
    """Those that asked the same and were answered the same took as long as before."""
    left = list(old.calls)

    def steady(call: RecordedCall) -> RecordedCall:
        known = next((other for other in left if _is_same(call, made, other, old)), None)
        if known is None:
            return call
        left.remove(known)
        # Pieces are named by what was really sent, which may have been a secret.
        return replace(call, responses=known.responses, request=known.request)

    return [steady(call) for call in made.calls]


def _is_same(new: RecordedCall, made: Recording, known: RecordedCall, old: Recording) -> bool:
    def told(call: RecordedCall) -> Any:
        answers = [answer for _, answer in call.responses]
        return call.type, call.name, call.agent, call.args, answers, call.result

    def asked(call: RecordedCall, recording: Recording) -> Any:
        return call.request and request_in_full(call.request, recording.pieces)

    if told(new) != told(known):
        return False
    return new.request == known.request or asked(new, made) == asked(known, old)


def _fragments(made: list[dict[str, Any]], old: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of each event in their order; among events as before, which counts for nothing."""
    left: dict[Any, deque[dict[str, Any]]] = defaultdict(deque)
    for fragment in made:
        left[fragment.get("id")].append(fragment)
    told = []
    for known in old:
        if own := left[known.get("id")]:
            new = own.popleft()
            told.append(known if comparable(new) == comparable(known) else new)
    return [*told, *(fragment for own in left.values() for fragment in own)]


def _is_event(old: Recording, place: int, event: dict[str, Any]) -> bool:
    return place < len(old.events) and comparable(event) == comparable(old.events[place])


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
