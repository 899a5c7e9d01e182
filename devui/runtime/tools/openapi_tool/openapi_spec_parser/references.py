"""Following `$ref` within an OpenAPI description (adk-runtime 8.9)."""

import logging
from dataclasses import dataclass, field
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
    references = _References(spec)
    found = references.followed(spec)
    if references.missing:
        logger.warning(
            "The OpenAPI description refers to what it does not hold, and anything is allowed"
            " there: %s.",
            ", ".join(references.missing),
        )
    assert isinstance(found, dict)  # noqa: S101  a dict without $ref stays one
    return found


@dataclass(frozen=True, slots=True)
class _References:
    spec: dict[str, Any]
    missing: dict[str, None] = field(default_factory=dict)
    """The references that lead nowhere, in the order in which they were met."""

    def followed(self, node: Any, within: tuple[str, ...] = (), *, needed: bool = False) -> Any:
        if isinstance(node, list):
            return [self.followed(item, within) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {
                key: self.followed(value, within, needed=key in _NEEDED)
                for key, value in node.items()
            }
        if reference in within:
            return {}
        try:
            target = _target(reference, self.spec)
        except KeyError as error:
            if needed:
                raise ValueError(
                    f"The OpenAPI description refers to {reference!r}, which is missing."
                ) from error
            self.missing[reference] = None
            return {}
        return self.followed(target, (*within, reference), needed=needed)


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
