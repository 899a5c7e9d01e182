"""Following `$ref` within an OpenAPI description (adk-runtime 8.9)."""

from typing import Any

_LOCAL = "#/"


def resolved(spec: dict[str, Any]) -> dict[str, Any]:
    """A copy of the description in which what is referred to stands in the reference's place.

    A reference back into itself becomes `{}`, which allows anything. Raises ValueError for one
    that leads nowhere or out of the description.
    """
    found = _resolved(spec, spec, ())
    assert isinstance(found, dict)  # noqa: S101  a dict without $ref stays one
    return found


def _resolved(node: Any, spec: dict[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_resolved(item, spec, within) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if not isinstance(reference, str):
        return {key: _resolved(value, spec, within) for key, value in node.items()}
    if reference in within:
        return {}
    return _resolved(_target(reference, spec), spec, (*within, reference))


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
