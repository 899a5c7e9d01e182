"""Following `$ref` within an OpenAPI description (adk-runtime 8.9)."""

from typing import Any

_LOCAL = "#/"


def resolved(spec: dict[str, Any]) -> dict[str, Any]:
    """A copy of the description in which what is referred to stands in the reference's place.

    A reference back into itself becomes `{}`, which allows anything. Raises ValueError for one
    that leads nowhere or out of the description.
    """
    found = _Resolver(spec).resolved(spec)
    assert isinstance(found, dict)  # noqa: S101  a dict without $ref stays one
    return found


class _Resolver:
    """Follows references. What is found for one may stand in several places."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._whole: dict[str, Any] = {}
        """What stands for references that are in no other."""
        self._parts: dict[str, Any] = {}
        """What stands for those in the one that is followed: made once, for where all refer to all
        there are more ways through them than anybody could go."""
        self._within: list[str] = []

    def resolved(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.resolved(item) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {key: self.resolved(value) for key, value in node.items()}
        if reference in self._within:
            return {}
        return self._referred(reference)

    def _referred(self, reference: str) -> Any:
        known = self._parts if self._within else self._whole
        if reference not in known:
            self._within.append(reference)
            found = self.resolved(_target(reference, self._spec))
            self._within.pop()
            known[reference] = found
            if not self._within:
                self._parts.clear()
        return known[reference]


def _target(reference: str, spec: dict[str, Any]) -> Any:
    if not reference.startswith(_LOCAL):
        raise ValueError(
            f"The OpenAPI description refers to {reference!r}, outside of itself. Put it into one"
            " document first."
        )
    node: Any = spec
    for step in reference.removeprefix(_LOCAL).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict) or key not in node:
            raise ValueError(f"The OpenAPI description refers to {reference!r}, which is missing.")
        node = node[key]
    return node
