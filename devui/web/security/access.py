"""Who may talk to the server: the token, the one-time code and the browsers signed in with them.

Everything here is drawn anew in each process, so a restart signs every browser out and a leaked
cookie dies with the process (R08). Nothing is written anywhere but a key for programs of the same
user, into a file that this user alone can read (docs/decisions/0007). Values are compared in
constant time. A wrong guess costs the guesser nothing and locks nobody out: with 256 bits there is
nothing to guess, and a lock-out could be triggered by any web page (R07).
"""

import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final

CODE_LIFETIME: Final = 600.0
"""Seconds that the code of a printed link stays good."""

MIN_TOKEN: Final = 16
"""Characters that a token of the user's own must have at least."""

_SECRET_BYTES: Final = 32
_MAX_CODES: Final = 16
_MAX_SESSIONS: Final = 64


class WeakToken(ValueError):
    """A token of the user's own is too short, or could not travel in a header."""


class Access:
    """The keys of one server process."""

    def __init__(
        self, token: str | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the user's token, or draw one when it is missing or blank.

        Args:
            token: what `Authorization: Bearer` must carry; blank means "draw one", never "none".
            clock: seconds, monotonic: a changed wall clock must not revive a code (R47).

        Raises:
            WeakToken: the token is shorter than `MIN_TOKEN` or holds blanks or non-ASCII.
        """
        self._clock = clock
        self._token = _check(token)
        self._keys: list[str] = []
        self._codes: deque[tuple[bytes, float]] = deque(maxlen=_MAX_CODES)
        self._sessions: deque[bytes] = deque(maxlen=_MAX_SESSIONS)
        self._hooks: list[Callable[[], None]] = []

    @property
    def token(self) -> str:
        """The bearer token, for the line that the command prints."""
        return self._token

    def new_code(self) -> str:
        """Draw a code that signs one browser in, once, within `CODE_LIFETIME` seconds."""
        code = secrets.token_urlsafe(_SECRET_BYTES)
        self._codes.append((_digest(code), self._clock() + CODE_LIFETIME))
        return code

    def new_key(self) -> str:
        """Draw a bearer token beside the user's own, good until this process ends."""
        self._keys.append(secrets.token_urlsafe(_SECRET_BYTES))
        return self._keys[-1]

    def redeem(self, code: str) -> str | None:
        """Exchange a code for the secret of a browser's cookie; `None` if it is not good."""
        return self._new_session() if self.use_up(code) else None

    def use_up(self, code: str) -> bool:
        """Let the code sign nobody in any more; whether it was good until now."""
        digest, now = _digest(code), self._clock()
        matches = [item for item in self._codes if hmac.compare_digest(item[0], digest)]
        for item in matches:
            self._codes.remove(item)
        return any(until > now for _, until in matches)

    def sign_in(self, token: str) -> str | None:
        """Exchange the token, pasted into a form, for the secret of a browser's cookie."""
        return self._new_session() if self.admits_bearer(token) else None

    def admits_bearer(self, token: str) -> bool:
        """Tell whether a script's token is the one, or a key that was drawn beside it."""
        digest = _digest(token)
        return any(
            hmac.compare_digest(digest, _digest(secret)) for secret in (self._token, *self._keys)
        )

    def admits_cookie(self, values: Iterable[str]) -> bool:
        """Tell whether one of the cookies of our name is a browser that signed in.

        There may be several: other ports of the same host share the cookie jar, and a stray value
        of theirs must not sign our user out.
        """
        return self.browser(values) is not None

    def browser(self, values: Iterable[str]) -> bytes | None:
        """The one of the signed-in browsers that sent these cookies, by a digest; or `None`."""
        digests = [_digest(value) for value in values]
        matches = (
            each
            for each in self._sessions
            if any(hmac.compare_digest(each, digest) for digest in digests)
        )
        return next(matches, None)

    def on_revoke(self, hook: Callable[[], None]) -> None:
        """Call `hook` after each `revoke`; open streams hang on to this to end themselves."""
        self._hooks.append(hook)

    def revoke(self, token: str | None = None) -> None:
        """Sign every browser out, void every code and key, and take a new token.

        Raises:
            WeakToken: as on construction; nothing has changed then.
        """
        self._token = _check(token)
        self._keys.clear()
        self._codes.clear()
        self._sessions.clear()
        for hook in self._hooks:
            hook()

    def _new_session(self) -> str:
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        self._sessions.append(_digest(secret))
        return secret


def _check(token: str | None) -> str:
    token = (token or "").strip()
    if not token:
        return secrets.token_urlsafe(_SECRET_BYTES)
    if len(token) < MIN_TOKEN:
        raise WeakToken(f"the token has {len(token)} characters; use at least {MIN_TOKEN}.")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise WeakToken("the token can contain only printable ASCII characters, without spaces.")
    return token


def _digest(value: str) -> bytes:
    return sha256(value.encode("utf-8", "replace")).digest()
