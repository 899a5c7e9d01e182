"""Who may talk to the server: the token, one-time codes, and the browsers signed in with them.

Each process generates its own secrets, so a restart signs out every browser and a leaked cookie is
worthless once the process ends (R08). Only a key for programs of the same user is written to disk,
to a file that only this user can read (docs/decisions/0007). Values are compared in constant time.
Wrong guesses are neither delayed nor counted: 256 bits can't be guessed, and any web page could
trigger a lockout (R07).
"""

import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final

CODE_LIFETIME: Final = 600.0
"""How long the code of a printed link stays valid, in seconds."""

MIN_TOKEN: Final = 16
"""The minimum length of a token that the user chooses, in characters."""

_SECRET_BYTES: Final = 32
_MAX_CODES: Final = 16
_MAX_SESSIONS: Final = 64


class WeakToken(ValueError):
    """The user's token is too short, or has characters that a header can't carry."""


class Access:
    """The credentials of one server process."""

    def __init__(
        self, token: str | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Use the user's token, or generate one if it is missing or blank.

        Args:
            token: what `Authorization: Bearer` must carry; blank generates one, never disables it.
            clock: seconds, monotonic: a changed wall clock must not revive a code (R47).

        Raises:
            WeakToken: the token is shorter than `MIN_TOKEN`, or contains spaces or non-ASCII.
        """
        self._clock = clock
        self._token = _check(token)
        self._keys: list[str] = []
        self._codes: deque[tuple[bytes, float]] = deque(maxlen=_MAX_CODES)
        self._sessions: deque[bytes] = deque(maxlen=_MAX_SESSIONS)
        self._hooks: list[Callable[[], None]] = []

    @property
    def token(self) -> str:
        """The bearer token, to be printed by the command."""
        return self._token

    def new_code(self) -> str:
        """Return a new code that signs in one browser, once, within `CODE_LIFETIME` seconds."""
        code = secrets.token_urlsafe(_SECRET_BYTES)
        self._codes.append((_digest(code), self._clock() + CODE_LIFETIME))
        return code

    def new_key(self) -> str:
        """Return a new bearer token, valid in addition to the user's until this process ends."""
        self._keys.append(secrets.token_urlsafe(_SECRET_BYTES))
        return self._keys[-1]

    def redeem(self, code: str) -> str | None:
        """Exchange a code for the secret of a browser's cookie; return None if it is invalid."""
        return self._new_session() if self.use_up(code) else None

    def use_up(self, code: str) -> bool:
        """Invalidate a code; return whether it was valid until now."""
        digest, now = _digest(code), self._clock()
        matches = [item for item in self._codes if hmac.compare_digest(item[0], digest)]
        for item in matches:
            self._codes.remove(item)
        return any(until > now for _, until in matches)

    def sign_in(self, token: str) -> str | None:
        """Exchange a token, pasted into the form, for the secret of a browser's cookie.

        Return None if the token is wrong.
        """
        return self._new_session() if self.admits_bearer(token) else None

    def admits_bearer(self, token: str) -> bool:
        """Return whether a script's token is the server's token or one of its keys."""
        digest = _digest(token)
        return any(
            hmac.compare_digest(digest, _digest(secret)) for secret in (self._token, *self._keys)
        )

    def admits_cookie(self, values: Iterable[str]) -> bool:
        """Return whether one of the cookies with our name belongs to a signed-in browser.

        There may be several: other ports of the same host share the cookie jar, and a stray value
        of theirs must not sign our user out.
        """
        return self.browser(values) is not None

    def browser(self, values: Iterable[str]) -> bytes | None:
        """Return the digest of the signed-in browser that sent these cookies, if there is one."""
        digests = [_digest(value) for value in values]
        matches = (
            each
            for each in self._sessions
            if any(hmac.compare_digest(each, digest) for digest in digests)
        )
        return next(matches, None)

    def on_revoke(self, hook: Callable[[], None]) -> None:
        """Call `hook` after each `revoke`, so that open streams can end themselves."""
        self._hooks.append(hook)

    def revoke(self, token: str | None = None) -> None:
        """Sign out every browser, invalidate every code and key, and set a new token.

        Raises:
            WeakToken: as in the constructor; nothing has changed then.
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
