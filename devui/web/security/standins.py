"""Names with a secret in them go on working: a stand-in goes out, and is understood.

A state key, an app or a tool may have a name with a secret in it. Where such a name is part of an
address, the value of a field that nobody writes into, or a name in JSON, it leaves as `redacted-…`,
which says nothing of it: a digest under a key that this process has made up. What comes back with
it, in an address or in a body, means the name.
"""

import hashlib
import hmac
import html
import json
import re
import secrets
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote_plus

from starlette.types import Scope

from devui.debugger.secrets.redaction import Redactor

_MOST: Final = 2000
"""Stand-ins that are remembered; the oldest go first."""
_ADDRESSES: Final = re.compile(
    r'(\s(?:href|src|action|formaction|hx-get|hx-post|hx-sse:connect)=")([^"]*)'
)
_VALUES: Final = re.compile(
    r'(<(?:input type="(?:hidden|checkbox|radio)"|button|option)\s[^<>]*?\bvalue=")([^"]*)'
)
_JSON_NAMES: Final = re.compile(
    r'("(?:key|name|id|tool|app)"\s*:\s*)?"((?:[^"\\]++|\\.)*+)"(\s*:)?', re.DOTALL
)
"""Strings of a JSON text; those are names that are keys, or values of such a key."""
_STAND_IN: Final = re.compile(r"redacted-[0-9a-f]{16}")


class StandIns:
    """Those that one process has sent out."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._texts: dict[str, str] = {}
        self._lock = Lock()

    def page(self, text: str, redactor: Redactor) -> str:
        """HTML with stand-ins in its addresses; secrets elsewhere stay as they are."""

        def substitute(stand: Callable[[str, Redactor], str], match: re.Match[str]) -> str:
            plain = html.unescape(match[2])
            stand_in = stand(plain, redactor)
            return match[0] if stand_in == plain else match[1] + html.escape(stand_in)

        text = _ADDRESSES.sub(partial(substitute, self.address), text)
        return _VALUES.sub(partial(substitute, self._plain), text)

    def json(self, text: str, redactor: Redactor) -> str:
        """JSON with stand-ins in its names; secrets elsewhere stay as they are."""

        def substitute(match: re.Match[str]) -> str:
            before, name, colon = match.groups(default="")
            if not (before or colon):
                return match[0]
            try:
                plain = json.loads(f'"{name}"', strict=False)
            except ValueError:  # the text is cut off here
                return match[0]
            stand_in = self._plain(plain, redactor)
            return match[0] if stand_in == plain else f"{before}{json.dumps(stand_in)}{colon}"

        return _JSON_NAMES.sub(substitute, text)

    def address(self, address: str, redactor: Redactor) -> str:
        """One address with stand-ins for the secrets in it."""
        texts: set[str] = set()
        redactor.text(unquote_plus(address), lambda _, text: texts.add(text))
        for text in sorted(texts, key=len, reverse=True):
            for spelling in (quote_plus(text), quote_plus(text, safe="@"), quote(text), text):
                address = address.replace(spelling, self._of(text))
        return address

    def back(self, scope: Scope) -> Scope:
        """A request as it would be with the names themselves in its address."""
        raw, query = scope.get("raw_path") or b"", scope.get("query_string") or b""
        if b"redacted-" not in raw + query and "redacted-" not in scope["path"]:
            return scope
        return {
            **scope,
            "path": self._with_names(scope["path"], plain=True),
            "raw_path": self._with_names(raw.decode("latin-1")).encode("latin-1"),
            "query_string": self._with_names(query.decode("latin-1")).encode("latin-1"),
        }

    def with_names(self, value: Any) -> Any:
        """What has come in a body, with the names themselves in it."""
        if isinstance(value, str):
            return self._with_names(value, plain=True)
        if isinstance(value, list):
            return [self.with_names(each) for each in value]
        if isinstance(value, dict):
            return {self.with_names(name): self.with_names(each) for name, each in value.items()}
        return value

    def _plain(self, text: str, redactor: Redactor) -> str:
        """A text that is no address, with stand-ins for the secrets in it."""
        texts: set[str] = set()
        redactor.text(text, lambda _, secret: texts.add(secret))
        for secret in sorted(texts, key=len, reverse=True):
            text = text.replace(secret, self._of(secret))
        return text

    def _of(self, text: str) -> str:
        digest = hmac.new(self._key, text.encode("utf-8", "replace"), hashlib.sha256)
        name = f"redacted-{digest.hexdigest()[:16]}"
        with self._lock:  # answers are cleaned in threads, too
            self._texts.pop(name, None)
            self._texts[name] = text
            if len(self._texts) > _MOST:
                del self._texts[next(iter(self._texts))]
        return name

    def _with_names(self, text: str, *, plain: bool = False) -> str:
        def name(match: re.Match[str]) -> str:
            stand_in = self._texts.get(match[0])
            if stand_in is None:
                return match[0]
            return stand_in if plain else quote(stand_in, safe="")

        return _STAND_IN.sub(name, text)
