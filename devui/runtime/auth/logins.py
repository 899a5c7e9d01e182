"""Logins of users at an OAuth 2 server: the address to log in at, and the answer.

Source: adk-runtime 8.6; RFC 6749 (4.1), RFC 7636 (PKCE).
"""

import base64
import hashlib
import secrets
from urllib.parse import parse_qsl, urlencode, urlsplit

from devui.runtime.auth.auth_credential import OAuth2Auth
from devui.runtime.auth.auth_schemes import AuthScheme, login_endpoint


class LoginRefused(ValueError):
    """The answer doesn't belong to the requested login, or the server refused it."""


def with_login(scheme: AuthScheme, client: OAuth2Auth) -> OAuth2Auth:
    """Return the client with a login address, a state to be returned, and a proof (PKCE).

    The proof is made for clients without a secret, and for those that ask for it.

    Raises:
        ValueError: the scheme doesn't say where to log in, or the client has no id or wants a proof
            other than S256.
    """
    if not client.client_id:
        raise ValueError("raw_auth_credential.oauth2 needs a client_id, or a ready auth_uri.")
    method = client.code_challenge_method or (None if client.client_secret else "S256")
    if method not in {None, "S256"}:
        raise ValueError(f"code_challenge_method {method!r} is not supported: use S256.")
    login = client.model_copy()
    login.state = client.state or secrets.token_urlsafe(24)
    if method is not None:
        login.code_challenge_method = method
        login.code_verifier = client.code_verifier or secrets.token_urlsafe(48)
    login.auth_uri = _address(scheme, login)
    return login


def authorization_code(oauth2: OAuth2Auth) -> str:
    """Return the code that the server gave for the login.

    Raises:
        LoginRefused: the server refused, or the answer belongs to another login or has no code.
    """
    if not oauth2.auth_response_uri:
        if not oauth2.auth_code:
            raise LoginRefused("The answer has neither authResponseUri nor authCode.")
        return oauth2.auth_code
    query = dict(parse_qsl(urlsplit(oauth2.auth_response_uri).query))
    if oauth2.state and not _same(query.get("state", ""), oauth2.state):
        raise LoginRefused(
            "The login was rejected: its state does not match the request. Log in again from the"
            " URL of the latest request."
        )
    if "error" in query:
        why = f": {query['error_description']}" if "error_description" in query else ""
        raise LoginRefused(f"The server refused the login: {query['error']}{why}")
    if "code" not in query:
        raise LoginRefused(
            "authResponseUri has no code: it must be the full URL that the server redirected the"
            " user to."
        )
    return query["code"]


def check_state(request: OAuth2Auth, answer: OAuth2Auth) -> None:
    """Refuse a login whose own state says that it belongs to another request.

    Raises:
        LoginRefused: the states differ.
    """
    if request.state and answer.state and not _same(request.state, answer.state):
        raise LoginRefused("The state of the login does not match the request.")


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def _address(scheme: AuthScheme, login: OAuth2Auth) -> str:
    endpoint, scopes = login_endpoint(scheme)
    query = {
        "response_type": "code",
        "client_id": login.client_id,
        "redirect_uri": login.redirect_uri,
        "scope": " ".join(scopes),
        "state": login.state,
        "access_type": "offline",
        "prompt": login.prompt or "consent",
        "audience": login.audience,
        "nonce": login.nonce,
    }
    if login.code_challenge_method and login.code_verifier:
        query["code_challenge"] = _challenge(login.code_verifier)
        query["code_challenge_method"] = login.code_challenge_method
    query_string = urlencode({name: value for name, value in query.items() if value})
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{query_string}"


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
