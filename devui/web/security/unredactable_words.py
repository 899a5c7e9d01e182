"""Words that pages and responses are made of, which can't be redacted (R64).

A password of letters alone may be such a word. Redacting it would also destroy markup, JSON names
and our own sentences. All other passwords are redacted like any secret.
"""

from functools import cache
from pathlib import Path
from typing import Final

from devui.web.assets import find_folder

_PACKAGE: Final = Path(__file__).parents[2]
_DEFAULT_WORDS: Final = frozenset(
    {"postgres", "postgresql", "rabbitmq", "minioadmin", "elastic", "elasticsearch", "cassandra"}
    | {"changeme", "changeit", "rootroot", "toortoor", "administrator", "localhost", "anonymous"}
)
"""The default credentials of services, which everybody knows and conversations mention."""


@cache
def is_unredactable(word: str) -> bool:
    """Return whether a word is a well-known default or occurs in our templates or modules."""
    return word.lower() in _DEFAULT_WORDS or word in _sources()


@cache
def _sources() -> str:
    """Return the text of the templates and of the modules, whose names and texts pages show."""
    templates = find_folder("templates", "base.html")
    files = (*templates.rglob("*.html"), *_PACKAGE.rglob("*.py"))
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(files))
