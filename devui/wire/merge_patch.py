"""JSON merge patches (RFC 7396): a change to a value by a reader who may know a part of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from devui.wire.gates import original


def merge(value: Any, change: Any) -> Any:
    """The value with the change: members are merged, null removes one, lists are replaced."""
    if not isinstance(change, Mapping):
        return change
    result = dict(value) if isinstance(value, Mapping) else {}
    for name, each in change.items():
        if each is None:
            result.pop(name, None)
        else:
            result[name] = merge(result.get(name), each)
    return result


def difference(before: Any, after: Any) -> Any:
    """The change that turns one value into the other; if one of them isn't an object, that is the
    other value."""
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return after
    removed = dict.fromkeys(before.keys() - after.keys())
    changed = {
        name: difference(before[name], each) if name in before else each
        for name, each in after.items()
        if name not in before or before[name] != each
    }
    return removed | changed


def merge_edit(holds: Iterable[Mapping[str, Any]], number: int | None, change: Any) -> Any:
    """What takes the place of what is held when the change is merged into it, or into an edit of it
    that was made before.

    `number` is that of one of several holds, as the API tells them; without it the oldest one is
    edited. If there is none, it is the change itself, which the server refuses.
    """
    hold = next((each for each in holds if number in {None, each["id"]}), None)
    if hold is None:
        return change
    edit = hold["edit"]
    if edit and edit["action"] == "edit":
        return merge(edit["value"], change)
    return merge(original(hold["gate"], hold["held"]), change)
