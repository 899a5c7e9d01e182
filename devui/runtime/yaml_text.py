"""Texts in YAML. What reads them is loaded with the first one, since most agents have none."""

from typing import Any

from devui.runtime.exports import lazy

_load = lazy("devui.runtime", {"parsed": "yaml_parser"})


def parsed_yaml(text: str) -> Any:
    """The data in the text.

    Raises:
        ValueError: it is no YAML.
        ImportError: pyyaml is not installed.
    """
    return _load("parsed")(text)
