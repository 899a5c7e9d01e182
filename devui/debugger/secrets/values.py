"""Which texts are secrets, of those that this machine keeps and of those that people gave (R64).

What is done with them is the matter of `redaction`, which knows besides what services' keys look
like.
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
"""Also `PGPASSWORD` and the like, which have no `_` before the word."""
_ABOUT: Final = re.compile(
    r"_(?:URLS?|URIS?|ENDPOINTS?|HOST|DOMAINS?|ISSUER|AUDIENCE|NAMES?|LABEL|TITLE|TYPE|KIND|MODE"
    r"|PREFIX|HEADER|FIELD|COLUMN|PROVIDER|BACKEND|PROJECT|REGION|ALGORITHM|SCOPES?|EXPIRY)$",
    re.IGNORECASE,
)
"""Variables that say something of a secret, and not what it is: `TOKEN_URL`, `KEY_VAULT_NAME`."""
_PASSWORDS: Final = re.compile(
    r"(?:PASSWORDS?|PASSWD|_PWD|PASSPHRASE|SECRETS?|TOKENS?)$", re.IGNORECASE
)
"""Variables whose value is a secret even if it is a word: not so `AUTH_PROVIDER`."""
_SEVERAL: Final = re.compile(r"(?:^|_)(?:API_?)?(?:KEY|SECRET|PASSWORD|TOKEN)S$", re.IGNORECASE)
"""Variables that may have several in one value."""
_WORD: Final = re.compile(r"(?=.{1,15}$)[A-Za-z]+(?:[_-][A-Za-z]+)*_?")
"""What more likely is a name, such as `created_at` in `SORT_KEYS`, than a key."""
_HARMLESS: Final = re.compile(r"(?:[A-Za-z]+|\d{1,9}|/[\w./@+-]*|true|false)", re.IGNORECASE)
"""Pieces of a value that say nothing by themselves: one word, a number, a path."""
_RANDOM: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[0-9A-Za-z+/_=-]{20,}")
"""What a key under a name that does not say so is written in."""
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_MARKED: Final = "DEVUI_SECRETS"
"""A variable that names others: secrets, or with `!` before them none; `*` stands for anything."""
_PLACES: Final = re.compile(r"(?:CREDENTIALS?|FILE|PATH|DIR|SOCK)$", re.IGNORECASE)
"""Variables that name a file where they begin with a slash."""
_PATH: Final = re.compile(r"(?:/[A-Za-z][a-z0-9_.-]*)*/?")
"""What is a path by its looks; base64 may begin with a slash, too."""
_FILES: Final = 256
"""Files that are parsed again only when they have changed."""
_LENGTH: Final = 2.7
"""Characters that the words of a random text have on average, at most."""
_LETTERS: Final = 3
"""Different characters that a secret has: `********` stands for one."""
_PIECES: Final = 64
"""So many lines of a value, or values of a list, are looked for by themselves."""

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
"""Members of a credential that let one in, without regard to how they are spelled."""


def secrets_of(places: Iterable[Path], environment: Mapping[str, str] = os.environ) -> list[Secret]:
    """What must not leave this machine: secret variables of this process, and of `.env` files.

    `places` are the folders of these files: see `AppFolder.places`. What makes a variable secret
    is in docs/decisions/0016.
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
    """The secrets of one app, or of all; the name of an app is none, whichever variable has it."""
    return [each for each in secrets_of(folder.places(app)) if not folder.has(each.text)]


def _marks(*sources: Mapping[str, str]) -> list[str]:
    """What people say of variables, the last word first."""
    return [mark.strip() for each in sources for mark in each.get(_MARKED, "").split(",")][::-1]


def _counts(name: str, value: str, marks: Iterable[str]) -> bool:
    """Whether the value of a variable is a secret: by what people say, its name, or its look."""
    for mark in marks:
        if mark and fnmatchcase(name, mark.removeprefix("!")):
            return not mark.startswith("!") and len(value) >= SHORTEST
    if name == _MARKED or _is_place(name, value):
        return False
    if _NAMES.search(name) and not _ABOUT.search(name):
        return _is_secret(name, value)
    return _is_random(value)


def secrets_in(values: Iterable[Any], kind: str, *, shortest: int = 4) -> list[Secret]:
    """The texts in JSON values, as secrets of a kind; short ones would be found everywhere."""
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
    """What is secret in credentials that people gave (AuthConfig), however it is spelled."""
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
    """Whether it is a key by its looks: what nobody types, and no model, project or slug is called.

    The words of a random text have two characters on average, those of `AwesomeProject2026` more.
    """
    if not _RANDOM.fullmatch(value):
        return False
    letters = re.sub(r"[+/_=-]", "", value)
    return len(letters) <= _LENGTH * len(_PART.findall(letters))


def _is_place(name: str, value: str) -> bool:
    """Whether the variable says where a secret is, and not what it is."""
    if not value.startswith("/"):
        return False
    return bool(_PLACES.search(name) or _PATH.fullmatch(value)) or _exists(value)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False


def _with_pieces(name: str, value: str) -> Iterator[str]:
    """The value; its lines, which are printed and shown apart; and each if it is a list of some."""
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
    """Whether it is a word, or the edge of a key: `-----BEGIN PRIVATE KEY-----`."""
    return bool(piece.startswith("-----") or _HARMLESS.fullmatch(piece) or _WORD.fullmatch(piece))


def _env_values(file: Path) -> Mapping[str, str]:
    try:
        stat = file.stat()
        return _values(file, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError):  # there is none, it is not ours to read, or it is no text
        return {}


@lru_cache(maxsize=_FILES)
def _values(file: Path, _changed: int, _size: int) -> Mapping[str, str]:
    # Not `dotenv_values`, which logs what it can't read: the log would ask again what to leave out.
    with file.open(encoding="utf-8") as lines:
        return {each.key: each.value for each in parse_stream(lines) if each.key and each.value}
