"""Codes of logins that were exchanged for tokens (RFC 6749, 4.1.2: a code is used once)."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from devui.runtime.auth.auth_credential import OAuth2Auth
from devui.runtime.auth.tokens import is_expired

_KEPT = 256


@dataclass(slots=True)
class _Redemption:
    lock: Lock = field(default_factory=Lock)
    tokens: OAuth2Auth | None = None


class RedeemedCodes:
    """Gives a login that comes with its code again the tokens that the code has brought.

    Two calls of an answer may need the same login at the same time, and a call that also waits
    for a confirmation needs it again later. A server would refuse the code, and the user would
    have to log in once more. The latest 256 are kept, in memory alone. Another login with the
    same code is the server's business: it is known by its state, which nobody can guess.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._redemptions: OrderedDict[tuple[str, ...], _Redemption] = OrderedDict()

    def tokens(
        self, url: str, login: OAuth2Auth, code: str, redeem: Callable[[], OAuth2Auth]
    ) -> OAuth2Auth:
        """The login with its tokens: those of before, unless they have ended, or new ones.

        Args:
            url: The token endpoint.
            login: The login, with the client and the proof that it was made with.
            code: The code that the server gave for it.
            redeem: Exchanges the code; what it raises passes through.
        """
        if not login.state:
            return redeem()
        redemption = self._redemption((url, login.client_id or "", login.state, code))
        with redemption.lock:
            if redemption.tokens is None or is_expired(redemption.tokens):
                redemption.tokens = redeem()
            return redemption.tokens.model_copy()

    def _redemption(self, key: tuple[str, ...]) -> _Redemption:
        with self._lock:
            redemption = self._redemptions.setdefault(key, _Redemption())
            self._redemptions.move_to_end(key)
            if len(self._redemptions) > _KEPT:
                self._redemptions.popitem(last=False)
            return redemption
