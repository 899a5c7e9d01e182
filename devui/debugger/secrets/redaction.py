"""Redacts secrets from everything that leaves the server (R64). All redaction goes through here.

There are three kinds: values of variables with a secret's name and of `.env` files; texts with the
shape of a key issued by some service; and texts that somebody names, such as the values of a state
key. A redacted text is replaced with MARK, which reveals neither its name nor any part of it.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple

from devui.debugger.background.slices import pieces
from devui.debugger.secrets.spellings import core_of, longest, spelled

MARK: Final = "[redacted]"
SHORTEST: Final = 8
"""The shortest value that counts as a secret, in characters: shorter ones are words."""

_EDGE: Final = r"(?:(?<![0-9A-Za-z_])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrtbf]))"
"""Where a key may begin, also in text escaped for an address or for JSON."""

_DIGIT: Final = r"(?=[A-Za-z._~+/-]{0,80}\d)"
"""Requires a digit soon, so that words with dashes (`xoxo-and-kisses`) don't count as keys."""
_MIXED: Final = rf"(?=[0-9a-z_-]{{0,80}}[A-Z]){_DIGIT}"
"""Also requires a capital letter, which excludes `sk-learn-for-beginners-2`."""


class _Shape(NamedTuple):
    """The shape of some service's keys."""

    kind: str
    anchors: tuple[str, ...]
    """Texts to search for first, since searching for a pattern takes many times as long."""
    pattern: re.Pattern[str]
    loose: re.Pattern[str]
    """Matches in the JSON of every text in which `pattern` matches, and perhaps in others."""
    offset: int = 0
    """Where a match starts, relative to its anchor."""


_LOOSE: Final = {
    "a private key": r"PRIVATE KEY-----",
    "a bearer token": rf"Bearer {_DIGIT}[0-9A-Za-z._~+/-]{{20}}",
    "a password in an address": r"://[^\s/:@\"'<>]{1,600}:[^\s/@\"'<>]{3,1200}@",
}
"""`loose` patterns of shapes that JSON changes: one character becomes six at most. Other shapes use
their pattern without the edge."""

_SHAPES: Final = tuple(
    _Shape(
        kind,
        anchors,
        re.compile(pattern.replace("§", _EDGE)),
        re.compile(_LOOSE.get(kind, pattern.replace("§", ""))),
        *offset,
    )
    for kind, anchors, pattern, *offset in (
        (
            "a private key",
            ("-----BEGIN ",),
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{20,8000}?-----END [A-Z ]*PRIVATE KEY-----",
        ),
        ("a Google API key", ("AIza",), r"§AIza[0-9A-Za-z_-]{35}"),
        ("a Google OAuth token", ("ya29.",), r"§ya29\.[0-9A-Za-z_-]{20,}"),
        ("an Anthropic key", ("sk-ant-",), rf"§sk-ant-{_MIXED}[0-9A-Za-z_-]{{20,}}"),
        ("an OpenAI key", ("sk-",), rf"§sk-{_MIXED}(?:proj-|svcacct-)?[0-9A-Za-z_-]{{20,}}"),
        (
            "a GitHub token",
            ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
            r"§gh[pousr]_[0-9A-Za-z]{36,}|§github_pat_[0-9A-Za-z_]{40,}",
        ),
        ("a GitLab token", ("glpat-",), r"§glpat-[0-9A-Za-z_-]{20,}"),
        ("a Slack token", ("xox",), rf"§xox[abeoprs]-{_DIGIT}[0-9A-Za-z-]{{10,}}"),
        ("an AWS access key", ("AKIA", "ASIA"), r"§(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a Stripe key", ("k_live_", "k_test_"), r"§[rs]k_(?:live|test)_[0-9A-Za-z]{16,}", -1),
        ("a Hugging Face token", ("hf_",), r"§hf_[0-9A-Za-z]{30,}"),
        (
            "a signed token (JWT)",
            ("eyJ",),
            r"§eyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}",
        ),
        (
            "a bearer token",
            ("Bearer ",),
            rf"(?<=\bBearer ){_DIGIT}[0-9A-Za-z._~+/-]{{20,}}=*",
            len("Bearer "),
        ),
        (
            "a password in an address",
            ("://",),
            r"(?<=://)[^\s/:@\"'<>]{1,100}:[^\s/@\"'<>]{3,200}(?=@)",
            len("://"),
        ),
    )
)
"""The shapes of keys that services issue."""

_BEGUN: Final = re.compile(
    r"(?:AIza|ya29\.|sk-|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|[rs]k_(?:live|test)_|hf_|eyJ"
    r"|Bearer )[0-9A-Za-z._~+/=-]*\Z"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?![\s\S]*-----END [A-Z ]*PRIVATE KEY-----)[\s\S]*\Z"
    r"|(?<=://)[^\s/:@\"'<>]{1,100}:[^\s/@\"'<>]{0,200}\Z"
)
"""The end of a text that may become one of the shapes, or continue as one."""
_CUT: Final = re.compile(
    rf"(?:AIza|ya29\.|sk-(?=[a-z_-]{{0,80}}[0-9A-Z])|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-{_DIGIT}"
    r"|AKIA|ASIA|[rs]k_(?:live|test)_|hf_|eyJ)[0-9A-Za-z._~+/=-]{4,8200}+(?=…|\\u2026)"
)
"""The beginning of a key that was cut off with an ellipsis."""
_ANCHORS: Final = tuple(anchor for shape in _SHAPES for anchor in shape.anchors)
_LONGEST: Final = 8_200
"""How far from the end of a text a secret may begin, in characters."""
_STEP: Final = 16_384
"""How far past a secret's core one search looks for the whole secret, in characters."""
_GLIMPSE: Final = 3
"""How many characters of a secret may show before it is recognized; they reveal nothing."""

_ELLIPSES: Final = ("…", "\\u2026")
"""How a preview marks that it was cut, also in JSON."""

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_URL_SAFE: Final = str.maketrans("+/", "-_")

Report = Callable[[str, str], None]
"""Called with the kind and the text of each redacted secret."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that must not be shown."""

    text: str
    kind: str
    """A description that doesn't reveal it: `a value of .env`."""


class _Secret(NamedTuple):
    """A text to redact, and how to find it."""

    text: str
    kind: str
    pattern: re.Pattern[str]
    core: str
    reach: int
    """The length of its longest spelling, in characters."""

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Yield its matches. Each search is short, so that other threads get their turn."""
        at = 0
        while (core := text.find(self.core, at)) >= 0 and at < len(text):
            at = max(at, core - self.reach)
            stop = core + _STEP
            match = self.pattern.search(text, at, stop + self.reach)
            if match is None or match.start() >= stop:
                at = stop
            else:
                yield match
                at = match.end()


class Redactor:
    """Redacts the given texts and, with `shapes`, whatever has the shape of a key."""

    def __init__(self, secrets: Iterable[Secret] = (), *, shapes: bool = True) -> None:
        kinds = {secret.text: secret.kind for secret in secrets if secret.text}
        # The longest first: one may be part of another.
        pairs = sorted(kinds.items(), key=lambda pair: (-len(pair[0]), pair[0]))
        self._secrets = [
            _Secret(text, kind, spelled(text), core_of(text), longest(text)) for text, kind in pairs
        ]
        self._shapes = _SHAPES if shapes else ()
        self._heads: dict[str, list[str]] = {}
        for secret in self._secrets:
            self._heads.setdefault(secret.text[: _GLIMPSE + 1], []).append(secret.text)

    def text(self, text: str, report: Report | None = None) -> str:
        """Return the text with its secrets redacted."""
        for secret in self._secrets:
            # Searching for a text takes a fraction of the time that searching for a pattern does.
            if secret.core in text:
                text = _without(text, secret.matches(text), secret.kind, report)
        is_cut = any(ellipsis in text for ellipsis in _ELLIPSES)
        if is_cut:
            for head, secrets in self._heads.items():
                text = _without_cut(text, head, secrets) if head in text else text
        for shape in self._shapes:
            for anchor in shape.anchors:
                if anchor not in text:
                    continue
                if is_cut:
                    cut = _matches_at(text, anchor, _CUT, min(shape.offset, 0))
                    text = _without(text, cut, shape.kind, None)
                matches = _matches_at(text, anchor, shape.pattern, shape.offset)
                text = _without(text, matches, shape.kind, report)
        return text

    def stable_part(self, text: str) -> str:
        """Return the beginning of a growing text, without an end that may become a secret."""
        end = len(text)
        for secret in self._secrets:
            end = min(end, len(text) - _overlap(text, secret.text))
        tail = text[-_LONGEST:]
        if self._shapes and any(anchor in tail for anchor in _ANCHORS):
            match = _BEGUN.search(tail)
            end = min(end, len(text) - len(tail) + match.start()) if match else end
        return text[:end]

    def growing(self, text: str) -> str:
        """Redact a text that is growing or was cut off, without an end that may become a secret."""
        return self.text(self.stable_part(text))

    def pieces(
        self, texts: Sequence[str], report: Report | None = None, *, cut: bool = False
    ) -> list[str]:
        """Redact the pieces of one text, including secrets that span several pieces.

        If the text was `cut` off, also redact an end that may be the beginning of a secret.
        """
        whole, cleaned = "".join(texts), list(texts)
        ends = list(accumulate(map(len, texts)))
        places = self._places(whole)
        stable = len(self.stable_part(whole)) if cut else len(whole)
        if stable < len(whole) and not (places and places[-1][1] > stable):
            places.append((stable, len(whole), "the beginning of a secret"))
        for start, end, kind in reversed(places):
            if report is not None:
                report(kind, whole[start:end])
            for n, stop in enumerate(ends):
                begin = stop - len(texts[n])
                low, high = max(start, begin), min(end, stop)
                if low < high:
                    here = MARK if low == start else ""
                    cleaned[n] = cleaned[n][: low - begin] + here + cleaned[n][high - begin :]
        return cleaned

    def restored_text(self, text: str, original: str) -> str:
        """Put secrets back into a text whose editor saw `original` redacted; see `restored`."""
        if MARK not in text:
            return text
        visible = self.text(original)
        if text == visible:
            return original
        secrets = [original[start:end] for start, end, _ in self._places(original)]
        first, *rest = text.split(MARK)
        if not len(secrets) == visible.count(MARK) == len(rest):
            return text
        return first + "".join(map("".join, zip(secrets, rest, strict=True)))

    def _places(self, text: str) -> list[tuple[int, int, str]]:
        """Return where secrets are and their kinds, from left to right, without overlaps."""
        places = [
            (match.start(), match.end(), secret.kind)
            for secret in self._secrets
            if secret.core in text
            for match in secret.matches(text)
        ]
        places += [
            (match.start(), match.end(), shape.kind)
            for shape in self._shapes
            for anchor in shape.anchors
            for match in _matches_at(text, anchor, shape.pattern, shape.offset)
        ]
        apart: list[tuple[int, int, str]] = []
        for place in sorted(places, key=lambda each: (each[0], -each[1])):
            if not apart or place[0] >= apart[-1][1]:
                apart.append(place)
        return apart

    def value(self, value: Any, report: Report | None = None) -> Any:
        """Return a JSON value with its secrets redacted, in keys as well as in values.

        Most values have none, so the JSON of each piece is searched first: that takes a fraction of
        the time of searching text by text. Parts without a secret aren't copied.
        """
        if not isinstance(value, dict | list):
            return self.text(value, report) if isinstance(value, str) else value
        parts: list[Any] = []
        for piece, small in pieces(value):
            if not small:
                parts.append(self._members(piece, self.value, report))
            elif self._suspects(_JSON.encode(piece)):
                parts.append(self._members(piece, self._each, report))
            else:
                parts.append(piece)
        if isinstance(value, list):
            return [each for part in parts for each in part]
        return {key: each for part in parts for key, each in part.items()}

    def _each(self, value: Any, report: Report | None) -> Any:
        """Redact a JSON value text by text."""
        if isinstance(value, dict | list):
            return self._members(value, self._each, report)
        return self.text(value, report) if isinstance(value, str) else value

    def _members(
        self, value: Any, clean: Callable[[Any, Report | None], Any], report: Report | None
    ) -> Any:
        if isinstance(value, list):
            return [clean(each, report) for each in value]
        return {self.text(key, report): clean(each, report) for key, each in value.items()}

    def _suspects(self, text: str) -> bool:
        """Whether a value with this JSON may contain a secret."""
        if any(secret.core in text for secret in self._secrets):
            return True
        is_cut = any(ellipsis in text for ellipsis in _ELLIPSES)
        if is_cut and any(_JSON.encode(head)[1:-1] in text for head in self._heads):
            return True
        likely = [
            shape for shape in self._shapes if any(anchor in text for anchor in shape.anchors)
        ]
        if is_cut and likely:  # the beginning of a key has its shape's anchor
            return True
        return any(shape.loose.search(text) for shape in likely)

    def data(self, data: bytes, report: Report | None = None) -> bytes:
        """Redact bytes. If they aren't UTF-8, only secrets known by their value are found."""
        try:
            return self.text(data.decode(), report).encode()
        except UnicodeDecodeError:
            for secret in self._secrets:
                if report is not None and secret.text.encode() in data:
                    report(secret.kind, secret.text)
                data = data.replace(secret.text.encode(), MARK.encode())
            return data

    def base64(self, text: str, report: Report | None = None) -> str:
        """Redact the bytes in a base64 text, in either alphabet, and encode them again.

        A text that isn't base64 is redacted as a text.
        """
        altchars = b"-_" if set(text) & {"-", "_"} else b"+/"
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), altchars, validate=True)
        except (binascii.Error, ValueError):
            return self.text(text, report)
        clean = self.data(data, report)
        return text if clean == data else base64.b64encode(clean, altchars).decode()


def alike(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _without_cut(text: str, head: str, secrets: Iterable[str]) -> str:
    """Redact beginnings of secrets that a preview cut off: `tok-01…`."""
    place = text.find(head)
    while place >= 0:
        for secret in secrets:
            end = place + alike(text[place : place + len(secret)], secret)
            if text.startswith(_ELLIPSES, end):
                text = text[:place] + MARK + text[end:]
                break
        place = text.find(head, place + 1)
    return text


def _overlap(text: str, secret: str) -> int:
    """Return the length of an incomplete secret at the end of a text; 0 if it is negligible."""
    start = max(0, len(text) - len(secret) + 1)
    while (start := text.find(secret[0], start)) >= 0:
        if secret.startswith(text[start:]):
            return len(text) - start if len(text) - start > _GLIMPSE else 0
        start += 1
    return 0


def _matches_at(
    text: str, anchor: str, pattern: re.Pattern[str], offset: int
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern at the given offset from each anchor."""
    at = text.find(anchor)
    while at >= 0:
        match = pattern.match(text, max(at + offset, 0))
        if match:
            yield match
        at = text.find(anchor, max(at + 1, match.end() if match else 0))


def _without(text: str, matches: Iterable[re.Match[str]], kind: str, report: Report | None) -> str:
    """Replace the matches in a text with MARK; they come in order."""
    parts: list[str] = []
    end = 0
    for match in matches:
        if report is not None:
            report(kind, match[0])
        parts += (text[end : match.start()], MARK)
        end = match.end()
    return "".join((*parts, text[end:])) if parts else text


NOTHING: Final = Redactor(shapes=False)
"""Redacts nothing."""


def in_base64(text: str) -> Iterator[str]:
    """Yield the parts of a text's base64 that don't depend on its position in the data.

    Three bytes become four characters, so there are three variants. Characters that also encode
    neighboring bytes are dropped at both ends.
    """
    data = text.encode("utf-8", "surrogatepass")
    for before in range(3):
        encoding = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        encoding = encoding[before and before + 1 : len(encoding) - bool((before + len(data)) % 3)]
        if len(encoding) >= SHORTEST:
            yield from {encoding, encoding.translate(_URL_SAFE)}


def restored(value: Any, original: Any, redactor: Redactor) -> Any:
    """Put secrets back into a value that was edited by somebody who saw `original` redacted.

    A text that equals the redacted original becomes the original. In an edited text, each MARK
    becomes the original's secret with the same index, unless the number of marks has changed.
    """
    if isinstance(value, str) and isinstance(original, str):
        return redactor.restored_text(value, original)
    if isinstance(value, dict) and isinstance(original, dict):
        names = {redactor.text(name): name for name in original}
        members = {key if key in original else names.get(key, key): v for key, v in value.items()}
        return {name: restored(v, original.get(name), redactor) for name, v in members.items()}
    if isinstance(value, list) and isinstance(original, list):
        others = [*original, *([None] * len(value))]
        return [restored(v, others[n], redactor) for n, v in enumerate(value)]
    return value


def without_keys(value: Any, keys: Collection[str], report: Callable[[str], None]) -> Any:
    """Return a JSON value with MARK in place of the values of these keys, at any depth."""
    if isinstance(value, list):
        return [without_keys(each, keys, report) for each in value]
    if not isinstance(value, dict):
        return value
    members: dict[str, Any] = {}
    for key, each in value.items():
        if key in keys and each not in (None, MARK):
            report(key)
            members[key] = MARK
        else:
            members[key] = without_keys(each, keys, report)
    return members
