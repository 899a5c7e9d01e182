"""Replaces secrets in names with pseudonyms that still work when they are sent back.

The name of a state key, app or tool may contain a secret. Where such a name is part of an address,
the value of a field that nobody edits, or a name in JSON, the secret is sent as `redacted-…`: a
digest under a random key of this process, which reveals nothing. When a pseudonym comes back in an
address or a body, it is replaced with the text it stands for.
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
"""How many pseudonyms are remembered; the oldest are forgotten first."""
_ADDRESSES: Final = re.compile(
    r'(\s(?:href|src|action|formaction|hx-get|hx-post|hx-sse:connect)=")([^"]*)'
)
_VALUES: Final = re.compile(
    r'(<(?:input type="(?:hidden|checkbox|radio)"|button|option)\s[^<>]*?\bvalue=")([^"]*)'
)
_JSON_NAMES: Final = re.compile(
    r'("(?:key|name|id|tool|app)"\s*:\s*)?"((?:[^"\\]++|\\.)*+)"(\s*:)?', re.DOTALL
)
"""A string in a JSON text; it is a name if it is a key, or the value of one of these keys."""
_PSEUDONYM: Final = re.compile(r"redacted-[0-9a-f]{16}")


class Pseudonyms:
    """The pseudonyms that one process has sent."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._texts: dict[str, str] = {}
        self._lock = Lock()

    def page(self, text: str, redactor: Redactor) -> str:
        """Put pseudonyms into the addresses and fixed values of HTML; keep all other secrets."""

        def substitute(replace_in: Callable[[str, Redactor], str], match: re.Match[str]) -> str:
            plain = html.unescape(match[2])
            pseudonym = replace_in(plain, redactor)
            return match[0] if pseudonym == plain else match[1] + html.escape(pseudonym)

        text = _ADDRESSES.sub(partial(substitute, self.address), text)
        return _VALUES.sub(partial(substitute, self._plain), text)

    def json(self, text: str, redactor: Redactor) -> str:
        """Put pseudonyms into the names of JSON; keep all other secrets."""

        def substitute(match: re.Match[str]) -> str:
            before, name, colon = match.groups(default="")
            if not (before or colon):
                return match[0]
            try:
                plain = json.loads(f'"{name}"', strict=False)
            except ValueError:  # the text was truncated here
                return match[0]
            pseudonym = self._plain(plain, redactor)
            return match[0] if pseudonym == plain else f"{before}{json.dumps(pseudonym)}{colon}"

        return _JSON_NAMES.sub(substitute, text)

    def address(self, address: str, redactor: Redactor) -> str:
        """Replace the secrets in an address with pseudonyms."""
        texts: set[str] = set()
        redactor.text(unquote_plus(address), lambda _, text: texts.add(text))
        for text in sorted(texts, key=len, reverse=True):
            for spelling in (quote_plus(text), quote_plus(text, safe="@"), quote(text), text):
                address = address.replace(spelling, self._of(text))
        return address

    def back(self, scope: Scope) -> Scope:
        """Return a request with the pseudonyms in its address replaced by their names."""
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
        """Return the value of a body with its pseudonyms replaced by their names."""
        if isinstance(value, str):
            return self._with_names(value, plain=True)
        if isinstance(value, list):
            return [self.with_names(each) for each in value]
        if isinstance(value, dict):
            return {self.with_names(name): self.with_names(each) for name, each in value.items()}
        return value

    def _plain(self, text: str, redactor: Redactor) -> str:
        """Replace the secrets in a text that isn't an address with pseudonyms."""
        texts: set[str] = set()
        redactor.text(text, lambda _, secret: texts.add(secret))
        for secret in sorted(texts, key=len, reverse=True):
            text = text.replace(secret, self._of(secret))
        return text

    def _of(self, text: str) -> str:
        digest = hmac.new(self._key, text.encode("utf-8", "replace"), hashlib.sha256)
        name = f"redacted-{digest.hexdigest()[:16]}"
        with self._lock:  # responses are redacted in threads, too
            self._texts.pop(name, None)
            self._texts[name] = text
            if len(self._texts) > _MOST:
                del self._texts[next(iter(self._texts))]
        return name

    def _with_names(self, text: str, *, plain: bool = False) -> str:
        def name(match: re.Match[str]) -> str:
            pseudonym = self._texts.get(match[0])
            if pseudonym is None:
                return match[0]
            return pseudonym if plain else quote(pseudonym, safe="")

        return _PSEUDONYM.sub(name, text)
