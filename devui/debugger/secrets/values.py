"""Decides which texts are secrets, on this machine and in what people entered (R64).

`redaction` removes them, and also recognizes the keys of services by their shape.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dotenv.parser import parse_stream

from devui.debugger.apps.apps import AppFolder
from devui.debugger.secrets.redaction import MARK, SHORTEST, Secret

_NAMES: Final = re.compile(
    r"(?:(?:^|_)(?:KEYS?|AUTH|DSN|PAT)|_PWD"
    r"|API_?KEYS?|TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?)(?:$|_)",
    re.IGNORECASE,
)
"""Names of secret variables, including `PGPASSWORD` and others without `_` before the word."""
_ABOUT: Final = re.compile(
    r"_(?:URLS?|URIS?|ENDPOINTS?|HOST|DOMAINS?|ISSUER|AUDIENCE|NAMES?|LABEL|TITLE|TYPE|KIND|MODE"
    r"|PREFIX|HEADER|FIELD|COLUMN|PROVIDER|BACKEND|PROJECT|REGION|ALGORITHM|SCOPES?|EXPIRY)$",
    re.IGNORECASE,
)
"""Variables that describe a secret but don't contain it: `TOKEN_URL`, `KEY_VAULT_NAME`."""
_PASSWORDS: Final = re.compile(
    r"(?:PASSWORDS?|PASSWD|_PWD|PASSPHRASE|SECRETS?|TOKENS?)$", re.IGNORECASE
)
"""Variables whose value is a secret even if it is a word, unlike `AUTH_PROVIDER`."""
_SEVERAL: Final = re.compile(r"(?:^|_)(?:API_?)?(?:KEY|SECRET|PASSWORD|TOKEN)S$", re.IGNORECASE)
"""Variables that may contain several secrets in one value."""
_WORD: Final = re.compile(r"(?=.{1,15}$)[A-Za-z]+(?:[_-][A-Za-z]+)*_?")
"""Values that are more likely names than keys, such as `created_at` in `SORT_KEYS`."""
_HARMLESS: Final = re.compile(r"(?:[A-Za-z]+|\d{1,9}|/[\w./@+-]*|true|false)", re.IGNORECASE)
"""Pieces of a value that reveal nothing by themselves: one word, a number, a path."""
_RANDOM: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[0-9A-Za-z+/_=-]{20,}")
"""The form of a key whose variable isn't named like a secret."""
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_MARKED: Final = "DEVUI_SECRETS"
"""A variable that lists others as secret or, after `!`, as not secret; `*` is a wildcard."""
_PLACES: Final = re.compile(r"(?:CREDENTIALS?|FILE|PATH|DIR|SOCK)$", re.IGNORECASE)
"""Variables that name a file if their value begins with a slash."""
_PATH: Final = re.compile(r"(?:/[A-Za-z][a-z0-9_.-]*)*/?")
"""Values that look like a path; base64 may begin with a slash, too."""
_FILES: Final = 256
"""How many parsed files are cached until they change."""
_LENGTH: Final = 2.7
"""The greatest average length of the words in a random text, in characters."""
_LETTERS: Final = 3
"""The minimum number of different characters in a secret; `********` is a placeholder."""
_PIECES: Final = 64
"""How many lines of a value, or values in a list, are searched for separately."""

_CREDENTIAL_FIELDS: Final = frozenset(
    {
        "accesstoken",
        "apikey",
        "authcode",
        "authresponseuri",
        "clientsecret",
        "codeverifier",
        "idtoken",
        "password",
        "privatekey",
        "refreshtoken",
        "token",
    }
)
"""Members of a credential that grant access, in lower case and without underscores."""


def secrets_of(places: Iterable[Path], environment: Mapping[str, str] = os.environ) -> list[Secret]:
    """Return what mustn't leave this machine: secret variables of this process and of `.env` files.

    `places` are the folders with these files; see `AppFolder.places`. docs/decisions/0016 says what
    makes a variable secret.
    """
    sources = [("the value of a secret variable", environment)]
    sources += [("a value of .env", _env_values(place / ".env")) for place in places]
    return [
        Secret(text, kind)
        for kind, variables in sources
        for name, value in variables.items()
        if _counts(name, value, _marks(environment, variables))
        for text in _with_pieces(name, value)
    ]


def secrets_about(folder: AppFolder, app: str | None = None) -> list[Secret]:
    """Return the secrets of one app, or of all. The name of an app is never a secret."""
    return [each for each in secrets_of(folder.places(app)) if not folder.has(each.text)]


def _marks(*sources: Mapping[str, str]) -> list[str]:
    """Return the marks that people set in `DEVUI_SECRETS`, the last first: it takes precedence."""
    return [mark.strip() for each in sources for mark in each.get(_MARKED, "").split(",")][::-1]


def _counts(name: str, value: str, marks: Iterable[str]) -> bool:
    """Whether the value of a variable is a secret, judging by the marks, its name or its form."""
    for mark in marks:
        if mark and fnmatchcase(name, mark.removeprefix("!")):
            return not mark.startswith("!") and len(value) >= SHORTEST
    if name == _MARKED or _is_place(name, value):
        return False
    if _NAMES.search(name) and not _ABOUT.search(name):
        return _is_secret(name, value)
    return _is_random(value)


def secrets_in(values: Iterable[Any], kind: str, *, shortest: int = 4) -> list[Secret]:
    """Return the texts in JSON values as secrets, except short ones, which would match anywhere."""
    texts: set[str] = set()
    waiting: list[Any] = [*values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and len(value) >= shortest and value != MARK:
            texts.add(value)
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
    return [Secret(text, kind) for text in sorted(texts)]


def credentials_in(values: Iterable[Any]) -> list[Secret]:
    """Return the secrets in credentials that people entered (AuthConfig), in any naming style."""
    secret: list[Any] = []
    waiting: list[Any] = [*values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            for name, member in value.items():
                is_secret = name.replace("_", "").lower() in _CREDENTIAL_FIELDS
                (secret if is_secret else waiting).append(member)
    return secrets_in(secret, "a credential that somebody gave")


def _is_secret(name: str, value: str) -> bool:
    if len(value) < SHORTEST or len(set(value)) < _LETTERS:
        return False
    if _PASSWORDS.search(name):
        return True
    return not _WORD.fullmatch(value)


def _is_random(value: str) -> bool:
    """Whether a value looks random: unlike typed text or the name of a model, project or slug.

    The words of a random text have two characters on average, those of `AwesomeProject2026` more.
    """
    if not _RANDOM.fullmatch(value):
        return False
    letters = re.sub(r"[+/_=-]", "", value)
    return len(letters) <= _LENGTH * len(_PART.findall(letters))


def _is_place(name: str, value: str) -> bool:
    """Whether the variable contains the location of a secret rather than the secret."""
    if not value.startswith("/"):
        return False
    return bool(_PLACES.search(name) or _PATH.fullmatch(value)) or _exists(value)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False


def _with_pieces(name: str, value: str) -> Iterator[str]:
    """Yield the value, its lines, which may be shown separately, and the members of a list."""
    yield value
    pieces: list[str] = []
    if _NAMES.search(name) or value.startswith("-----BEGIN"):
        pieces += value.splitlines()
    if _SEVERAL.search(name):
        pieces += re.split(r"[,;\s]+", value)
    for piece in pieces[:_PIECES]:
        text = piece.strip()
        if len(text) >= SHORTEST and text != value and not _tells_nothing(text):
            yield text


def _tells_nothing(piece: str) -> bool:
    """Whether it is harmless by itself, or the edge of a key: `-----BEGIN PRIVATE KEY-----`."""
    return bool(piece.startswith("-----") or _HARMLESS.fullmatch(piece) or _WORD.fullmatch(piece))


def _env_values(file: Path) -> Mapping[str, str]:
    try:
        stat = file.stat()
        return _values(file, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError):  # it doesn't exist, is unreadable, or isn't text
        return {}


@lru_cache(maxsize=_FILES)
def _values(file: Path, _changed: int, _size: int) -> Mapping[str, str]:
    # Not `dotenv_values`, which logs what it can't parse: redacting the log would call this again.
    with file.open(encoding="utf-8") as lines:
        return {each.key: each.value for each in parse_stream(lines) if each.key and each.value}
