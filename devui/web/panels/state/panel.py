"""Stored state, as the State panel and an event's changes show it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha1
from types import MappingProxyType
from typing import Final

from devui.debugger.history.paths import Pin
from devui.store.rows import Change, Scope, Value
from devui.store.values import parse_json
from devui.web.basic_parts import JsonNode, JsonTree
from devui.web.links import edit_state_url, session_url, state_value_url
from devui.web.panels.inspector.parts import MoreLink, PendingGroup, StatePanel, StateScope
from devui.web.panels.state.key_history import KeyLinks
from devui.web.panels.state.parts import StateValue, WatchButton
from devui.web.panels.watch.panel import watch_button
from devui.web.text.deceptive_characters import visible
from devui.web.text.jsontree import PREVIEW, Link, NodeBudget, Rest, json_tree

SCOPES: Final[dict[Scope, tuple[str, str]]] = {
    "session": ("session", "saved with this session"),
    "user": ("user:", "shared by this user's sessions"),
    "app": ("app:", "shared by all users of the app"),
}
LONGEST: Final = 65_536
"""Characters of JSON up to which a panel shows a value; larger values have a page of their own."""
KEYS: Final = 100
"""Maximum number of keys of one scope, or changes of one event, shown at a time."""
_NODES: Final = 1_200
_TEXT: Final = 8 * LONGEST
"""The nodes, and the characters of JSON, that all trees of one panel may have together."""
_BUTTONS: Final = 40
"""Maximum number of watch buttons: with hundreds of keys, the page must stay small."""
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
    more: Mapping[Scope, MoreLink] = MappingProxyType({}),
    watched_keys: Collection[str] | None = None,
) -> StatePanel:
    """Return all scopes, with the changes of the selected event.

    `temp` holds the `temp:` keys that the event wrote, which aren't stored; `number` is the event
    that the state is as of, None for now; `at` is the event that the page is as of; `pending` is
    what is written but not committed; `more` has links to the keys of a scope that aren't among the
    values; `watched_keys` is None if keys can't be watched.
    """
    changed = {(change.scope, change.key): change for change in changes}
    trees = _Trees(KeyLinks(session, number, at), watched_keys=watched_keys)
    scopes = [
        StateScope(label, note, tuple(_scope(scope, values, changed, trees)), more.get(scope))
        for scope, (label, note) in SCOPES.items()
    ]
    temporary = tuple(_temporary(key, value, trees.budget) for key, value in temp.items())
    scopes.append(StateScope("temp:", "discarded when the invocation ends", temporary))
    return StatePanel(
        number=number, scopes=tuple(scopes), changed=len(changes) + len(temporary), pending=pending
    )


def changed_values(
    changes: Iterable[Change], *, session: int, number: int | None
) -> tuple[StateValue, ...]:
    """Return an event's changes to the state, old and new; keys carry their prefix.

    Without a number, the event isn't committed, and its values have no links.
    """
    trees = _Trees(KeyLinks(session, number) if number else None)
    return tuple(_changed(change, trees, PREFIXES[change.scope]) for change in changes)


def state_values(
    values: Iterable[Value], *, session: int, number: int | None
) -> tuple[StateValue, ...]:
    """Return values as of an event, or now."""
    trees = _Trees(KeyLinks(session, number))
    return tuple(_value(value, None, trees) for value in values)


def uncommitted_value(change: Change, *, number: int, note: str, place: str = "") -> StateValue:
    """Return a write that is in no event; `number` distinguishes it from others of its key."""
    value = _changed(change, _Trees(None), PREFIXES[change.scope])
    return replace(value, dom_id=f"{value.dom_id}-{number}", note=note, place=place)


@dataclass(slots=True)
class _Trees:
    """The trees of one panel, which share its limits."""

    links: KeyLinks | None
    """None for state that no event has written yet."""
    watched_keys: Collection[str] | None = None
    """The keys that are already watched; None if none can be."""
    budget: NodeBudget = field(default_factory=lambda: NodeBudget(_NODES))
    text: int = _TEXT
    buttons: int = _BUTTONS

    def tree(self, key: str, text: str, *, link: bool = False) -> JsonTree:
        """Return a value as of the panel's event."""
        links = self.links
        rest = None if links is None else self._rest(key, links.session, links.event)
        return self._tree(text, links.within(key) if links and link else None, rest)

    def watch(self, key: str) -> WatchButton | None:
        """Return the button that watches a key; None without one."""
        links, watched_keys = self.links, self.watched_keys
        if links is None or watched_keys is None or (key not in watched_keys and not self.buttons):
            return None
        self.buttons = max(self.buttons - 1, 0)
        return watch_button(
            links.session, key, is_watched=key in watched_keys, number=links.event, at=links.at
        )

    def old(self, change: Change | None) -> JsonTree | None:
        """Return the value before the panel's event."""
        if change is None or change.old is None:
            return None
        links, rest = self.links, None
        if links is not None and links.event:
            key = PREFIXES[change.scope] + change.key
            rest = self._rest(key, links.session, links.event - 1)
        return self._tree(change.old, None, rest)

    def _rest(self, key: str, session: int, at: int | None) -> Rest:
        return lambda path, start: state_value_url(session, Pin(key, path), start, at=at)

    def _tree(self, text: str, link: Link | None, rest: Rest | None) -> JsonTree:
        if rest is None or len(text) <= min(LONGEST, self.text):
            self.text -= len(text)
            return json_tree(
                parse_json(text), open_levels=0, link=link, rest=rest, budget=self.budget
            )
        beginning = visible(text[:PREVIEW]) + "…"
        return JsonTree(
            JsonNode("object", beginning, note="open", rest=rest((), 0)), has_links=True
        )


def _scope(
    scope: Scope,
    values: Sequence[Value],
    changed: Mapping[tuple[Scope, str], Change],
    trees: _Trees,
) -> Iterable[StateValue]:
    present = {value.key for value in values if value.scope == scope}
    removals = [c for (s, key), c in changed.items() if s == scope and key not in present]
    items = [_value(v, changed.get((scope, v.key)), trees) for v in values if v.scope == scope]
    items += [_changed(change, trees) for change in removals]
    return sorted(items, key=lambda value: value.key)


def _value(value: Value, change: Change | None, trees: _Trees) -> StateValue:
    links = trees.links
    outside, key = "start" if value.initial else "elsewhere", PREFIXES[value.scope] + value.key
    return StateValue(
        key=visible(value.key),
        dom_id=_dom_id(value.scope, value.key),
        mark="same" if change is None else "new" if change.old is None else "changed",
        value=trees.tree(key, value.value, link=True),
        old=trees.old(change),
        by=outside if value.number is None else f"#{value.number}",
        href=session_url(links.session, event=value.number) if links and value.number else None,
        history=links.to(Pin(key)) if links else "",
        watch=trees.watch(key),
        edit=edit_state_url(links.session, key)
        if links and links.event is None and len(value.value) <= LONGEST
        else "",
    )


def _changed(change: Change, trees: _Trees, prefix: str = "") -> StateValue:
    links, key = trees.links, PREFIXES[change.scope] + change.key
    new = None if change.new is None else trees.tree(key, change.new)
    number = links.event if links else None
    return StateValue(
        key=visible(prefix + change.key),
        dom_id=_dom_id(change.scope, change.key),
        mark="removed" if new is None else "new" if change.old is None else "changed",
        value=new,
        old=trees.old(change),
        by="" if number is None else f"#{number}",
        href=None if links is None or number is None else session_url(links.session, event=number),
        history=links.to(Pin(key)) if number and links else "",
    )


def _temporary(key: str, value: object, budget: NodeBudget) -> StateValue:
    return StateValue(
        key=visible(key.removeprefix("temp:")),
        dom_id=_dom_id("temp", key),
        mark="same",
        value=json_tree(value, open_levels=0, budget=budget),
        old=None,
        by="",
        href=None,
    )


def _dom_id(scope: str, key: str) -> str:
    """Return an id that is the same for all events, so that unfolded values stay unfolded."""
    return (
        f"v-{scope}-" + sha1(key.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:12]
    )
