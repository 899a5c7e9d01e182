"""Which texts are secrets, of those that this machine keeps and of those that people gave (R64).

What is done with them is the matter of `redaction`, which knows besides what services' keys look
like.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dotenv import dotenv_values

from devui.debugger.redaction import MARK, SHORTEST, Secret

_NAMES: Final = re.compile(
    r"(?:(?:^|_)(?:KEYS?|AUTH|DSN|PAT)|_PWD"
    r"|API_?KEYS?|TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?)(?:$|_)",
    re.IGNORECASE,
)
"""Also `PGPASSWORD` and the like, which have no `_` before the word."""
_PASSWORDS: Final = re.compile(
    r"(?:PASSWORDS?|PASSWD|_PWD|PASSPHRASE|SECRETS?|TOKENS?)$", re.IGNORECASE
)
"""Variables whose value is a secret even if it is a word: not so `AUTH_PROVIDER`."""
_SEVERAL: Final = re.compile(r"(?:^|_)(?:API_?)?(?:KEY|SECRET|PASSWORD|TOKEN)S$", re.IGNORECASE)
"""Variables that may have several in one value."""
_WORD: Final = re.compile(r"(?=.{1,15}$)[A-Za-z]+(?:[_-][A-Za-z]+)*_?")
"""What more likely is a name, such as `created_at` in `SORT_KEYS`, than a key."""
_HARMLESS: Final = re.compile(r"(?:[A-Za-z]+|\d{1,9}|/[\w./@+-]*|true|false)", re.IGNORECASE)
"""Values of `.env` that say nothing by themselves: one word, a number, a path."""
_PLACES: Final = re.compile(r"(?:CREDENTIALS?|FILE|PATH|DIR|SOCK)$", re.IGNORECASE)
"""Variables that name a file where they begin with a slash."""
_PATH: Final = re.compile(r"(?:/[A-Za-z][a-z0-9_.-]*)*/?")
"""What is a path by its looks; base64 may begin with a slash, too."""
_PIECES: Final = 64
"""So many lines of a value, or values of a list, are looked for by themselves."""

_GIVEN: Final = frozenset(
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


def secrets_of(folder: Path, environment: Mapping[str, str] = os.environ) -> list[Secret]:
    """What must not leave this machine: secret variables, and the `.env` files of a folder of apps.

    These are the files that apps load: beside each app, in the folder, and in the folders above.
    """
    found = [
        Secret(text, "the value of a secret variable")
        for name, value in environment.items()
        if _NAMES.search(name) and _is_secret(name, value) and not _is_place(name, value)
        for text in _with_pieces(name, value)
    ]
    for file in env_files(folder):
        found += [
            Secret(text, "a value of .env")
            for name, value in _env_values(file).items()
            if value is not None and _is_secret(name, value)
            for text in _with_pieces(name, value)
        ]
    return found


def env_files(folder: Path) -> list[Path]:
    """The `.env` files that apps of this folder may load."""
    beside = sorted(folder.glob("*/.env"))
    above = [place / ".env" for place in (folder, *folder.resolve().parents)]
    return [file for file in (*beside, *above) if file.is_file()]


def named(values: Iterable[Any], kind: str, *, shortest: int = 4) -> list[Secret]:
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
                is_secret = name.replace("_", "").lower() in _GIVEN
                (secret if is_secret else waiting).append(member)
    return named(secret, "a credential that somebody gave")


def _is_secret(name: str, value: str) -> bool:
    if len(value) < SHORTEST:
        return False
    if _PASSWORDS.search(name):
        return True
    return not (_WORD if _NAMES.search(name) else _HARMLESS).fullmatch(value)


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


def _env_values(file: Path) -> dict[str, str | None]:
    try:
        return dict(dotenv_values(file, interpolate=False))
    except (OSError, UnicodeDecodeError):
        return {}
