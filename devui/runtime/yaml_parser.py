"""YAML as data. Needs `pip install devui[yaml]`; load it by `yaml_text` (adk-runtime 8.9)."""

from typing import Any

try:
    import yaml
except ImportError as error:
    raise ImportError(
        "Texts in YAML need the package pyyaml: pip install 'devui[yaml]'. The same as JSON or as"
        " objects does without."
    ) from error


def parse_yaml(text: str) -> Any:
    """The data in the text; ValueError if it is no YAML."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"This is no YAML: {error}") from error
