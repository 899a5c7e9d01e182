"""Makes deceptive characters in text visible (R20).

Bidirectional controls, zero-width and tag characters and control characters can make text look
like something it is not; they are written as `\\u202e`. So are lone surrogates, which can't be sent
to browsers. A zero-width joiner inside an emoji is left alone.
"""

import json
import re
from typing import Final

_CONTROLS: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    "\U000e0000-\U000e007f"
)
_INVISIBLE: Final = "\u00ad\u061c\u200b\u200c\u200e\u200f\u2060-\u2065\ufeff\ufff9-\ufffb"
_JOINER: Final = 0x200D
_EMOJI: Final = "\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"

# One character class each, and a small one for ASCII, so that searching is several times faster.
_STRICT: Final = re.compile(f"[{_CONTROLS}{_INVISIBLE}\u200d]")
_LENIENT: Final = re.compile(f"[{_CONTROLS}]")
_ASCII: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BEFORE_JOINER: Final = re.compile(f"[{_EMOJI}]")


def visible(text: str) -> str:
    """Escape each deceptive character in a text, for inspection."""
    return (_ASCII if text.isascii() else _STRICT).sub(_escape, text)


def readable(text: str) -> str:
    """Escape deceptive characters in a text, but not marks that Persian or Hebrew need."""
    return (_ASCII if text.isascii() else _LENIENT).sub(_escape, text)


def quoted(text: str) -> str:
    """Return the text as a JSON string, with deceptive characters escaped."""
    return visible(json.dumps(text, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    start = match.start()
    if code == _JOINER and start and _BEFORE_JOINER.match(match.string, start - 1):
        return match.group()
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
