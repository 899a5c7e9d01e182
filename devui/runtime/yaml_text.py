"""Reads YAML (adk-runtime 8.9). The parser is loaded at first use: most agents have no YAML."""

from collections.abc import Sequence
from typing import Any

from devui.runtime.exports import lazy

__all__ = ["line_of", "lines_of_text", "parse_yaml"]

_load = lazy("devui.runtime", dict.fromkeys(__all__, "yaml_parser"))


def parse_yaml(text: str) -> Any:
    """Return the data in the text.

    Raises:
        ValueError: It isn't valid YAML.
        ImportError: pyyaml is not installed.
    """
    return _load("parse_yaml")(text)


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """Return the line of the value at a path, in a text that `parse_yaml` can read.

    If there is no value at the path, it is the line of the closest one above; None if there is
    none.
    """
    line: int | None = _load("line_of")(text, path)
    return line


def lines_of_text(text: str, value: str) -> list[int]:
    """Return the lines on which a text is a value, in a text that `parse_yaml` can read."""
    lines: list[int] = _load("lines_of_text")(text, value)
    return lines
