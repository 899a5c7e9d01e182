"""JSON merge patches (RFC 7396): changes by a client that may know only part of a value."""

from collections.abc import Iterable, Mapping
from typing import Any

from devui.wire.gates import original


def merge(value: Any, change: Any) -> Any:
    """Apply the change to the value: members are merged, null removes one, lists are replaced."""
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
    """Return the change from `before` to `after`: `after` itself unless both are objects."""
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
    """Merge the change into what is held, or into its last edit, and return the new edit.

    `number` selects one of several holds by its id in the API; None selects the oldest. Without a
    hold, return the change itself, which the server refuses.
    """
    hold = next((each for each in holds if number in {None, each["id"]}), None)
    if hold is None:
        return change
    edit = hold["edit"]
    if edit and edit["action"] == "edit":
        return merge(edit["value"], change)
    return merge(original(hold["gate"], hold["held"]), change)
