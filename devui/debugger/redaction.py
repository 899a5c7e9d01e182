"""Takes secrets out of whatever leaves the server (R64): the one place that knows what is one.

Three kinds: values of variables with the name of a secret and of `.env` files; texts with the shape
of a key that some service hands out; and what somebody names besides, such as the values of a state
key. What is taken out leaves MARK behind, never its name and never a part of itself.
"""

import base64
import binascii
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dotenv import dotenv_values

MARK: Final = "[redacted]"
SHORTEST: Final = 8
"""Characters of a value from which on it is taken for a secret: shorter ones are words."""

_NAMES: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|DSN|AUTH)"
    r"(?:$|_)",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(r"(?:[A-Za-z]+|\d{1,9}|/[\w./@+-]*|true|false)", re.IGNORECASE)
"""Values of `.env` that say nothing by themselves: one word, a number, a path."""

_SHAPES: Final = (
    (
        "a private key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{20,8000}?-----END [A-Z ]*PRIVATE KEY-----",
    ),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Google OAuth token", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    ("an Anthropic key", r"\bsk-ant-[0-9A-Za-z_-]{20,}"),
    ("an OpenAI key", r"\bsk-(?:proj-|svcacct-)?[0-9A-Za-z_-]{20,}"),
    ("a GitHub token", r"\bgh[pousr]_[0-9A-Za-z]{36,}|\bgithub_pat_[0-9A-Za-z_]{40,}"),
    ("a GitLab token", r"\bglpat-[0-9A-Za-z_-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a Stripe key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("a Hugging Face token", r"\bhf_[0-9A-Za-z]{30,}"),
    ("a signed token (JWT)", r"\beyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}"),
    ("a bearer token", r"(?<=\bBearer )[0-9A-Za-z._~+/-]{20,}=*"),
    ("a password in an address", r"(?<=://)[^\s/:@\"'<>]{1,100}:[^\s/@\"'<>]{3,200}(?=@)"),
)

Told = Callable[[str, str], None]
"""Hears of each text that is taken out: of what kind it was, and the text."""


@dataclass(frozen=True, slots=True)
class Secret:
    """One text that must not be seen."""

    text: str
    kind: str
    """What it is, in words that say nothing of it: `a value of .env`."""


class Redactor:
    """Takes out the given texts and, with `shapes`, what has the shape of a key."""

    def __init__(self, secrets: Iterable[Secret] = (), *, shapes: bool = True) -> None:
        self._kinds = {secret.text: secret.kind for secret in secrets if secret.text}
        longest_first = sorted(self._kinds, key=len, reverse=True)
        found = [re.escape(text) for text in longest_first]
        named = [f"(?P<s{n}>{shape})" for n, (_, shape) in enumerate(_SHAPES)] if shapes else []
        self._pattern = re.compile("|".join([*found, *named]) or r"(?!)")
        self._known = [text.encode() for text in longest_first]

    def text(self, text: str, told: Told | None = None) -> str:
        """The text without secrets."""

        def marked(match: re.Match[str]) -> str:
            if told is not None:
                told(self._kind(match), match[0])
            return MARK

        return self._pattern.sub(marked, text)

    def pieces(self, texts: Sequence[str], told: Told | None = None) -> list[str]:
        """Pieces of one text without the secrets in it, those that lie across pieces included."""
        whole, kept, cut = "".join(texts), list(texts), 0
        starts = [0]
        for text in texts:
            starts.append(starts[-1] + len(text))
        for match in reversed(list(self._pattern.finditer(whole))):
            if told is not None:
                told(self._kind(match), match[0])
            for n, start in enumerate(starts[:-1]):
                low, high = max(match.start(), start), min(match.end(), starts[n + 1])
                if low < high:
                    here = MARK if low == match.start() else ""
                    kept[n] = kept[n][: low - start] + here + kept[n][high - start :]
                    cut += 1
        return kept

    def value(self, value: Any, told: Told | None = None) -> Any:
        """A JSON value without secrets, in keys as well as in values."""
        if isinstance(value, str):
            return self.text(value, told)
        if isinstance(value, list):
            return [self.value(each, told) for each in value]
        if isinstance(value, dict):
            return {self.text(k, told): self.value(v, told) for k, v in value.items()}
        return value

    def data(self, data: bytes, told: Told | None = None) -> bytes:
        """Bytes without secrets; of what is no text only those that are known by their value."""
        try:
            return self.text(data.decode(), told).encode()
        except UnicodeDecodeError:
            for known in self._known:
                if told is not None and known in data:
                    told(self._kinds[known.decode()], known.decode())
                data = data.replace(known, MARK.encode())
            return data

    def base64(self, text: str, told: Told | None = None) -> str:
        """The same for bytes as base64; what is none stays as it is."""
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return text
        clean = self.data(data, told)
        return text if clean == data else base64.b64encode(clean).decode()

    def _kind(self, match: re.Match[str]) -> str:
        if match.lastgroup is not None:
            return _SHAPES[int(match.lastgroup[1:])][0]
        return self._kinds[match[0]]


NOTHING: Final = Redactor(shapes=False)
"""Takes nothing out."""


def secrets_of(folder: Path, environment: Mapping[str, str] = os.environ) -> list[Secret]:
    """What must not leave this machine: secret variables, and the `.env` files of a folder of apps.

    These are the files that apps load: beside each app, in the folder, and in the folders above.
    """
    found = [
        Secret(value, "the value of a secret variable")
        for name, value in environment.items()
        if _NAMES.search(name) and len(value) >= SHORTEST
    ]
    for file in env_files(folder):
        values = _env_values(file)
        found += [
            Secret(value, "a value of .env")
            for name, value in values.items()
            if value is not None and _secret(name, value)
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


def without_keys(value: Any, keys: Collection[str], told: Callable[[str], None]) -> Any:
    """A JSON value in which the values of these keys, wherever they are, are MARK."""
    if isinstance(value, list):
        return [without_keys(each, keys, told) for each in value]
    if not isinstance(value, dict):
        return value
    kept: dict[str, Any] = {}
    for key, each in value.items():
        if key in keys and each not in (None, MARK):
            told(key)
            kept[key] = MARK
        else:
            kept[key] = without_keys(each, keys, told)
    return kept


def _secret(name: str, value: str) -> bool:
    if len(value) < SHORTEST:
        return False
    return bool(_NAMES.search(name)) or not _HARMLESS.fullmatch(value)


def _env_values(file: Path) -> dict[str, str | None]:
    try:
        return dict(dotenv_values(file, interpolate=False))
    except (OSError, UnicodeDecodeError):
        return {}
