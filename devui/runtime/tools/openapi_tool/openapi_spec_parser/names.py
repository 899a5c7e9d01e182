"""Names of operations and parameters as a model writes them (adk-runtime 8.9)."""

import keyword
import re

MAX_NAME = 60
"""Models refuse longer names of tools."""


def snake_case(name: str) -> str:
    """`getPetById`, `get-pet-by-id` and `GET /pet` in lower case with underscores."""
    words = re.sub(r"[^0-9A-Za-z]+", "_", name)
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", words)
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words)
    return re.sub(r"_+", "_", words).strip("_").lower()


def argument_name(name: str) -> str:
    """The name of an argument: no keyword of Python, and not empty."""
    found = snake_case(name) or "value"
    return f"param_{found}" if keyword.iskeyword(found) else found


def unique(names: list[str]) -> list[str]:
    """The names with `_0`, `_1`, … after those that came before."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.append(f"{name}_{count - 1}" if count else name)
    return found
