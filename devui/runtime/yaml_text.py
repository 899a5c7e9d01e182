"""Texts in YAML (adk-runtime 8.9). Their reader is loaded with the first: most agents have none."""

from typing import Any

from devui.runtime.exports import lazy

_load = lazy("devui.runtime", {"parse_yaml": "yaml_parser"})


def parse_yaml(text: str) -> Any:
    """The data in the text.

    Raises:
        ValueError: it is no YAML.
        ImportError: pyyaml is not installed.
    """
    return _load("parse_yaml")(text)
