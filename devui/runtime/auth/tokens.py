"""Tokens of OAuth 2 servers. The code that talks to servers is loaded with the first token.

So agents without OAuth need neither authlib nor the time to load it.

See adk-runtime 8.6.
"""

from collections.abc import Callable, Sequence
from typing import cast

from devui.runtime.auth.auth_credential import OAuth2Auth, ServiceAccount
from devui.runtime.exports import lazy
from devui.runtime.platform.time import get_time

LEEWAY_SECONDS = 60
"""How long before its end a token is replaced, so that it doesn't expire in transit."""

_load = lazy(
    "devui.runtime.auth",
    dict.fromkeys(("account_token", "client_token", "login_token", "new_token"), "token_endpoint"),
)


def login_token(url: str, login: OAuth2Auth, code: str) -> OAuth2Auth:
    """Return the login with the tokens that the server at `url` gives for its code."""
    return cast("Callable[..., OAuth2Auth]", _load("login_token"))(url, login, code)


def client_token(url: str, client: OAuth2Auth, scopes: Sequence[str]) -> OAuth2Auth:
    """Return the client with a token of its own."""
    return cast("Callable[..., OAuth2Auth]", _load("client_token"))(url, client, scopes)


def new_token(url: str, expired: OAuth2Auth) -> OAuth2Auth:
    """Return the credential with new tokens, obtained with its refresh token."""
    return cast("Callable[..., OAuth2Auth]", _load("new_token"))(url, expired)


def account_token(account: ServiceAccount) -> tuple[str, float]:
    """Return a token for the account's key, and when it expires (Unix seconds)."""
    return cast("Callable[..., tuple[str, float]]", _load("account_token"))(account)


def is_expired(oauth2: OAuth2Auth) -> bool:
    """Return whether the token has expired or is about to; False if its end is unknown."""
    return oauth2.expires_at is not None and oauth2.expires_at - LEEWAY_SECONDS < get_time()
