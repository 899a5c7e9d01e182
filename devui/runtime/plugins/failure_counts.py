"""How often something failed in a row, so that a model may try again (adk-runtime 10.4)."""

from __future__ import annotations

from collections import Counter, OrderedDict
from enum import Enum

REFLECT_AND_RETRY_RESPONSE_TYPE = "ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN"
"""Marks what such a plugin wrote in place of a failure."""

_GLOBAL = "__global_reflect_and_retry_scope__"
_SCOPES_KEPT = 1000


class TrackingScope(Enum):
    """How long failures are counted together."""

    INVOCATION = "invocation"
    GLOBAL = "global"

    def key(self, invocation_id: str) -> str:
        """The name of the count that failures of this invocation belong to."""
        return invocation_id if self is TrackingScope.INVOCATION else _GLOBAL


class FailureCounts:
    """Failures by scope and by name of what failed; old scopes are forgotten."""

    def __init__(self) -> None:
        self._scopes: OrderedDict[str, Counter[str]] = OrderedDict()

    def add(self, scope: str, name: str) -> int:
        """Count one more failure.

        Returns:
            How many there are now in a row.
        """
        counter = self._scopes.setdefault(scope, Counter())
        counter[name] += 1
        if len(self._scopes) > _SCOPES_KEPT:
            self._scopes.popitem(last=False)
        return counter[name]

    def forget(self, scope: str, name: str) -> None:
        """Begin anew, since it has succeeded."""
        if scope in self._scopes:
            self._scopes[scope].pop(name, None)
