"""Stored state as the state panel and the changes of an event."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha1
from typing import Final

from devui.debugger.paths import Pin
from devui.store.rows import Change, Scope, Value
from devui.web.links import session_url
from devui.web.parts.inspector import PendingGroup, StatePanel, StateScope, StateValue
from devui.web.parts.json import JsonTree
from devui.web.presenters.keyhistory import KeyLinks
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import visible

SCOPES: Final[dict[Scope, tuple[str, str]]] = {
    "session": ("session", "kept with this session"),
    "user": ("user:", "shared by this user's sessions"),
    "app": ("app:", "shared by all users of the app"),
}
PREFIXES: Final = {"session": "", "user": "user:", "app": "app:"}


def state_panel(
    values: Sequence[Value],
    changes: Sequence[Change],
    temp: Mapping[str, object],
    *,
    session: int,
    number: int | None = None,
    at: int | None = None,
    pending: tuple[PendingGroup, ...] = (),
) -> StatePanel:
    """All scopes, with what the selected event changed.

    `temp` holds the `temp:` keys the event wrote, which nothing keeps; `number` is the event the
    state is as of, None for now; `at` is the one that the page is as of; `pending` is what is
    written and not committed.
    """
    changed = {(change.scope, change.key): change for change in changes}
    links = KeyLinks(session, number, at)
    scopes = [
        StateScope(label, note, tuple(_scope(scope, values, changed, links)))
        for scope, (label, note) in SCOPES.items()
    ]
    kept = tuple(_temporary(key, value) for key, value in temp.items())
    scopes.append(StateScope("temp:", "not kept: gone when the invocation ends", kept))
    return StatePanel(
        number=number, scopes=tuple(scopes), changed=len(changes) + len(kept), pending=pending
    )


def changed_values(
    changes: Iterable[Change], *, session: int, number: int | None
) -> tuple[StateValue, ...]:
    """What one event did to the state, old and new; keys carry their prefix."""
    links = KeyLinks(session, number)
    return tuple(_changed(change, links, PREFIXES[change.scope]) for change in changes)


def uncommitted_value(change: Change, *, number: int, note: str) -> StateValue:
    """One write that no event carries; `number` tells it from others of the same key."""
    value = _changed(change, None, PREFIXES[change.scope])
    return replace(value, dom_id=f"{value.dom_id}-{number}", note=note)


def _scope(
    scope: Scope,
    values: Sequence[Value],
    changed: Mapping[tuple[Scope, str], Change],
    links: KeyLinks,
) -> Iterable[StateValue]:
    present = {value.key for value in values if value.scope == scope}
    gone = [c for (s, key), c in changed.items() if s == scope and key not in present]
    shown = [_value(v, changed.get((scope, v.key)), links) for v in values if v.scope == scope]
    shown += [_changed(change, links) for change in gone]
    return sorted(shown, key=lambda value: value.key)


def _value(value: Value, change: Change | None, links: KeyLinks) -> StateValue:
    outside, key = "start" if value.initial else "elsewhere", PREFIXES[value.scope] + value.key
    return StateValue(
        key=visible(value.key),
        dom_id=_dom_id(value.scope, value.key),
        mark="same" if change is None else "new" if change.old is None else "changed",
        value=json_tree(json.loads(value.value), open_levels=0, link=links.within(key)),
        old=_old(change),
        by=outside if value.number is None else f"#{value.number}",
        href=None if value.number is None else session_url(links.session, event=value.number),
        history=links.to(Pin(key)),
    )


def _changed(change: Change, links: KeyLinks | None, prefix: str = "") -> StateValue:
    """Without links for what no event has written yet."""
    new = None if change.new is None else json_tree(json.loads(change.new), open_levels=0)
    number = links.event if links else None
    return StateValue(
        key=visible(prefix + change.key),
        dom_id=_dom_id(change.scope, change.key),
        mark="removed" if new is None else "new" if change.old is None else "changed",
        value=new,
        old=_old(change),
        by="" if number is None else f"#{number}",
        href=None if links is None or number is None else session_url(links.session, event=number),
        history=links.to(Pin(PREFIXES[change.scope] + change.key)) if number and links else "",
    )


def _old(change: Change | None) -> JsonTree | None:
    if change is None or change.old is None:
        return None
    return json_tree(json.loads(change.old), open_levels=0)


def _temporary(key: str, value: object) -> StateValue:
    return StateValue(
        key=visible(key.removeprefix("temp:")),
        dom_id=_dom_id("temp", key),
        mark="same",
        value=json_tree(value, open_levels=0),
        old=None,
        by="",
        href=None,
    )


def _dom_id(scope: str, key: str) -> str:
    """Stable across events, so that what was unfolded stays unfolded."""
    return (
        f"v-{scope}-" + sha1(key.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:12]
    )
