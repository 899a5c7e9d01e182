"""Reads YAML as data. Needs `pip install devui[yaml]`; load it by `yaml_text` (adk-runtime 8.9)."""

from collections.abc import Sequence
from typing import Any

try:
    import yaml
except ImportError as error:
    raise ImportError(
        "YAML needs the package pyyaml: pip install 'devui[yaml]'. JSON and Python objects work"
        " without it."
    ) from error


def parse_yaml(text: str) -> Any:
    """Return the data in the text; ValueError if it isn't valid YAML."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"Invalid YAML: {error}") from error


def lines_of_text(text: str, value: str) -> list[int]:
    """Return the lines on which a text is a value."""
    nodes, lines = [yaml.compose(text, Loader=yaml.SafeLoader)], []
    visited = set()
    while nodes:
        node = nodes.pop()
        if id(node) in visited:  # an alias may refer to a node that contains it
            continue
        visited.add(id(node))
        if isinstance(node, yaml.MappingNode):
            nodes += [member for _, member in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
        elif node is not None and node.value == value:
            lines.append(node.start_mark.line + 1)
    return lines


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """Return the line of the value at a path, or of the closest one above it."""
    node, line = yaml.compose(text, Loader=yaml.SafeLoader), None
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pairs = [pair for pair in node.value if pair[0].value == step]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            pairs = [(each, each) for each in node.value[step : step + 1]]
        else:
            pairs = []
        if not pairs:
            break
        key, node = pairs[0]
        line = key.start_mark.line + 1
    return line
