"""Takes secrets out of whatever leaves the server (R64): the one place that knows what is one.

Three kinds: values of variables with the name of a secret and of `.env` files; texts with the shape
of a key that some service hands out; and what somebody names besides, such as the values of a state
key. What is taken out leaves MARK behind, never its name and never a part of itself.
"""

import base64
import binascii
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Final

MARK: Final = "[redacted]"
SHORTEST: Final = 8
"""Characters of a value from which on it is taken for a secret: shorter ones are words."""

_EDGE: Final = r"(?:(?<![0-9A-Za-z_])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrtbf]))"
"""Where a key may begin, also in what is spelled for an address or for JSON."""

_SHAPES: Final = tuple(
    (kind, anchors, re.compile(pattern.replace("§", _EDGE)))
    for kind, anchors, pattern in (
        (
            "a private key",
            ("PRIVATE KEY-----",),
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{20,8000}?-----END [A-Z ]*PRIVATE KEY-----",
        ),
        ("a Google API key", ("AIza",), r"§AIza[0-9A-Za-z_-]{35}"),
        ("a Google OAuth token", ("ya29.",), r"§ya29\.[0-9A-Za-z_-]{20,}"),
        ("an Anthropic key", ("sk-ant-",), r"§sk-ant-[0-9A-Za-z_-]{20,}"),
        ("an OpenAI key", ("sk-",), r"§sk-(?:proj-|svcacct-)?[0-9A-Za-z_-]{20,}"),
        (
            "a GitHub token",
            ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
            r"§gh[pousr]_[0-9A-Za-z]{36,}|§github_pat_[0-9A-Za-z_]{40,}",
        ),
        ("a GitLab token", ("glpat-",), r"§glpat-[0-9A-Za-z_-]{20,}"),
        ("a Slack token", ("xox",), r"§xox[abeoprs]-[0-9A-Za-z-]{10,}"),
        ("an AWS access key", ("AKIA", "ASIA"), r"§(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a Stripe key", ("k_live_", "k_test_"), r"§[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
        ("a Hugging Face token", ("hf_",), r"§hf_[0-9A-Za-z]{30,}"),
        (
            "a signed token (JWT)",
            ("eyJ",),
            r"§eyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}",
        ),
        ("a bearer token", ("Bearer ",), r"(?<=\bBearer )[0-9A-Za-z._~+/-]{20,}=*"),
        (
            "a password in an address",
            ("://",),
            r"(?<=://)[^\s/:@\"'<>]{1,100}:[^\s/@\"'<>]{3,200}(?=@)",
        ),
    )
)
"""What services hand out: in words, a text that each has in it, and what it looks like."""

_BEGUN: Final = re.compile(
    r"(?:AIza|ya29\.|sk-|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|[rs]k_(?:live|test)_|hf_|eyJ"
    r"|Bearer )[0-9A-Za-z._~+/=-]*\Z"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?![\s\S]*-----END [A-Z ]*PRIVATE KEY-----)[\s\S]*\Z"
    r"|(?<=://)[^\s/:@\"'<>]{1,100}:[^\s/@\"'<>]{0,200}\Z"
)
"""An end of a text that may become one of the shapes, or may go on as one."""
_CUT: Final = re.compile(
    r"(?:AIza|ya29\.|sk-|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|AKIA|ASIA|[rs]k_(?:live|test)_"
    r"|hf_|eyJ)[0-9A-Za-z._~+/=-]{4,}(?=…|\\u2026)"
)
"""The beginning of such a key at which a text was cut."""
_ANCHORS: Final = tuple(anchor for _, anchors, _ in _SHAPES for anchor in anchors)
_LONGEST: Final = 8_200
"""Characters at the end of a text in which a secret may have begun."""
_GLIMPSE: Final = 3
"""Characters of a secret that may be seen before it is known for one: they tell nothing."""

_ELLIPSES: Final = ("…", "\\u2026")
"""How a preview says that it was cut, also in JSON."""

_URL_SAFE: Final = str.maketrans("+/", "-_")

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
        kinds = {secret.text: secret.kind for secret in secrets if secret.text}
        # The longest first: one may be part of another.
        self._known = sorted(kinds.items(), key=lambda pair: (-len(pair[0]), pair[0]))
        self._shapes = _SHAPES if shapes else ()
        self._heads: dict[str, list[str]] = {}
        for known, _ in self._known:
            self._heads.setdefault(known[: _GLIMPSE + 1], []).append(known)

    def text(self, text: str, told: Told | None = None) -> str:
        """The text without secrets."""
        for known, kind in self._known:
            if told is not None:
                _tell(told, kind, known, times=text.count(known))
            text = text.replace(known, MARK)
        is_cut = any(ellipsis in text for ellipsis in _ELLIPSES)
        if is_cut:
            for head, secrets in self._heads.items():
                text = _without_cut(text, head, secrets) if head in text else text
        # Looking for a few letters takes a fraction of the time that looking for a pattern does.
        likely = [each for each in self._shapes if any(anchor in text for anchor in each[1])]
        if is_cut and likely:  # what `_CUT` looks for begins like one of the shapes
            text = _CUT.sub(MARK, text)
        for kind, _, pattern in likely:
            text = pattern.sub(partial(_marked, kind, told), text)
        return text

    def settled(self, text: str) -> str:
        """The beginning of a text that grows, without what at its end may become a secret."""
        kept = len(text)
        for known, _ in self._known:
            kept = min(kept, len(text) - _overlap(text, known))
        tail = text[-_LONGEST:]
        if self._shapes and any(anchor in tail for anchor in _ANCHORS):
            begun = _BEGUN.search(tail)
            kept = min(kept, len(text) - len(tail) + begun.start()) if begun else kept
        return text[:kept]

    def growing(self, text: str) -> str:
        """A text that grows, or that was cut off in the middle, as far as it can be told."""
        return self.text(self.settled(text))

    def pieces(
        self, texts: Sequence[str], told: Told | None = None, *, cut: bool = False
    ) -> list[str]:
        """Pieces of one text without the secrets in it, those that lie across pieces included.

        If the text was `cut` off, without what at its end may have become a secret, too.
        """
        whole, kept = "".join(texts), list(texts)
        ends = list(accumulate(map(len, texts)))
        places = self._found(whole)
        begun = len(self.settled(whole)) if cut else len(whole)
        if begun < len(whole) and not (places and places[-1][1] > begun):
            places.append((begun, len(whole), "the beginning of a secret"))
        for start, end, kind in reversed(places):
            if told is not None:
                told(kind, whole[start:end])
            for n, stop in enumerate(ends):
                begin = stop - len(texts[n])
                low, high = max(start, begin), min(end, stop)
                if low < high:
                    here = MARK if low == start else ""
                    kept[n] = kept[n][: low - begin] + here + kept[n][high - begin :]
        return kept

    def _found(self, text: str) -> list[tuple[int, int, str]]:
        """Where secrets are, from the left; none of them overlaps another."""
        places = [
            (match.start(), match.end(), kind)
            for known, kind in self._known
            for match in re.finditer(re.escape(known), text)
        ]
        for kind, _, pattern in self._shapes:
            places += [(match.start(), match.end(), kind) for match in pattern.finditer(text)]
        apart: list[tuple[int, int, str]] = []
        for place in sorted(places, key=lambda each: (each[0], -each[1])):
            if not apart or place[0] >= apart[-1][1]:
                apart.append(place)
        return apart

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
            for known, kind in self._known:
                if told is not None and known.encode() in data:
                    told(kind, known)
                data = data.replace(known.encode(), MARK.encode())
            return data

    def base64(self, text: str, told: Told | None = None) -> str:
        """The same for bytes as base64; what is none stays as it is."""
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return text
        clean = self.data(data, told)
        return text if clean == data else base64.b64encode(clean).decode()


def alike(first: str, second: str) -> int:
    """With how many of the same characters two texts begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _without_cut(text: str, head: str, secrets: Iterable[str]) -> str:
    """The text without the beginnings of secrets at which a preview was cut: `tok-01…`."""
    place = text.find(head)
    while place >= 0:
        for known in secrets:
            end = place + alike(text[place : place + len(known)], known)
            if text.startswith(_ELLIPSES, end):
                text = text[:place] + MARK + text[end:]
                break
        place = text.find(head, place + 1)
    return text


def _overlap(text: str, known: str) -> int:
    """How many characters at the end of a text are the beginning of a secret, and not all of it."""
    start = max(0, len(text) - len(known) + 1)
    while (start := text.find(known[0], start)) >= 0:
        if known.startswith(text[start:]):
            return len(text) - start if len(text) - start > _GLIMPSE else 0
        start += 1
    return 0


def _tell(told: Told, kind: str, text: str, *, times: int) -> None:
    for _ in range(times):
        told(kind, text)


def _marked(kind: str, told: Told | None, match: re.Match[str]) -> str:
    if told is not None:
        told(kind, match[0])
    return MARK


NOTHING: Final = Redactor(shapes=False)
"""Takes nothing out."""


def in_base64(text: str) -> Iterator[str]:
    """The parts of a text's base64 that are the same wherever in some data it stands.

    Three bytes are four characters: so there are three of them, and what neighbours have a part
    in is left out at both ends.
    """
    data = text.encode("utf-8", "surrogatepass")
    for before in range(3):
        coded = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        coded = coded[before and before + 1 : len(coded) - bool((before + len(data)) % 3)]
        if len(coded) >= SHORTEST:
            yield from {coded, coded.translate(_URL_SAFE)}


def restored(value: Any, original: Any, redactor: Redactor) -> Any:
    """A value that somebody changed who saw `original` redacted, with its secrets back in place.

    A text that is still what the redactor makes of the original's is the original's.
    """
    if isinstance(value, str) and isinstance(original, str):
        return original if MARK in value and value == redactor.text(original) else value
    if isinstance(value, dict) and isinstance(original, dict):
        names = {redactor.text(name): name for name in original}
        kept = {key if key in original else names.get(key, key): v for key, v in value.items()}
        return {name: restored(v, original.get(name), redactor) for name, v in kept.items()}
    if isinstance(value, list) and isinstance(original, list):
        others = [*original, *([None] * len(value))]
        return [restored(v, others[n], redactor) for n, v in enumerate(value)]
    return value


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
