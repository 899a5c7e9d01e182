"""Words that pages and answers cannot do without, so that none of them can be kept secret (R64).

A password of letters alone may be such a word: taken out, it would take markup, names of JSON and
our own sentences with it. What is none is taken out like every other secret.
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
"""What services are delivered with: everybody knows it, and conversations are about it."""


@cache
def is_ours(word: str) -> bool:
    """Whether it is known to everybody, or stands in what our pages and answers are made of."""
    return word.lower() in _DEFAULT_WORDS or word in _sources()


@cache
def _sources() -> str:
    """The templates, and the modules with the names and sentences that go into them."""
    templates = find_folder("templates", "base.html")
    files = (*templates.rglob("*.html"), *_PACKAGE.rglob("*.py"))
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(files))
