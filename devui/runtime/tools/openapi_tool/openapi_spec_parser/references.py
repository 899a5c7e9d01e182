"""Following `$ref` within an OpenAPI description (adk-runtime 8.9)."""

import logging
from typing import Any

logger = logging.getLogger(__name__)

_LOCAL = "#/"
_NEEDED = ("paths", "requestBody")
"""Without them a tool would be another: it would be missing, or send less than it should."""


def resolved(spec: dict[str, Any]) -> dict[str, Any]:
    """A copy of the description in which what is referred to stands in the reference's place.

    A reference back into itself becomes `{}`, which allows anything, and so does one that leads
    nowhere, of which a warning tells: many a description has some in what no tool needs. Raises
    ValueError if the paths or a request's body lead nowhere, and for a reference that leads out
    of the description.
    """
    resolver = _Resolver(spec)
    found = resolver.resolved(spec)
    if resolver.missing:
        logger.warning(
            "The OpenAPI description refers to what it does not hold, and anything is allowed"
            " there: %s.",
            ", ".join(resolver.missing),
        )
    assert isinstance(found, dict)  # noqa: S101  a dict without $ref stays one
    return found


class _Resolver:
    """Follows references. What is found for one may stand in several places."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self.missing: dict[str, None] = {}
        """The references that lead nowhere, in the order in which they were met."""
        self._whole: dict[str, Any] = {}
        """What stands for references that are in no other."""
        self._parts: dict[str, Any] = {}
        """What stands for those in the one that is followed: made once, for where all refer to all
        there are more ways through them than anybody could go."""
        self._within: list[str] = []

    def resolved(self, node: Any, *, needed: bool = False) -> Any:
        """What stands in the node's place; ValueError if it is `needed` and leads nowhere."""
        if isinstance(node, list):
            return [self.resolved(item) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {key: self.resolved(node[key], needed=key in _NEEDED) for key in node}
        if reference in self._within:
            return {}
        return self._referred(reference, needed=needed)

    def _referred(self, reference: str, *, needed: bool) -> Any:
        known = self._parts if self._within else self._whole
        # What leads nowhere stands as `{}`, which is too little for what is needed.
        if reference not in known or (needed and not known[reference]):
            target = self._aim(reference, needed=needed)
            self._within.append(reference)
            found = self.resolved(target, needed=needed)
            self._within.pop()
            known[reference] = found
            if not self._within:
                self._parts.clear()
        return known[reference]

    def _aim(self, reference: str, *, needed: bool) -> Any:
        try:
            return _target(reference, self._spec)
        except KeyError as error:
            if needed:
                raise ValueError(
                    f"The OpenAPI description refers to {reference!r}, which is missing."
                ) from error
            self.missing[reference] = None
            return {}


def _target(reference: str, spec: dict[str, Any]) -> Any:
    """What a reference leads to; KeyError if that is nowhere."""
    if not reference.startswith(_LOCAL):
        raise ValueError(
            f"The OpenAPI description refers to {reference!r}, outside of itself. Put it into one"
            " document first."
        )
    node: Any = spec
    for step in reference.removeprefix(_LOCAL).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict):
            raise KeyError(key)
        node = node[key]
    return node
