"""Requests to an OAuth 2 server's token endpoint, made with authlib. Needs `devui[oauth]`.

All functions wait for the server, for up to 10 seconds, and raise CredentialExchangeError if it
refuses or cannot be reached.

See adk-runtime 8.6.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from devui.runtime.auth.auth_credential import OAuth2Auth, ServiceAccount
from devui.runtime.auth.exchanger import CredentialExchangeError
from devui.runtime.platform.time import get_time

try:
    from authlib.common.errors import AuthlibBaseError
    from authlib.integrations.requests_client import AssertionSession, OAuth2Session
    from authlib.oauth2.rfc7523 import ClientSecretJWT, PrivateKeyJWT
    from joserfc.errors import JoseError
    from joserfc.jwk import RSAKey
    from requests import RequestException, Response
except ImportError as error:
    raise ImportError(
        "Tokens from OAuth 2 servers need the package authlib: pip install 'devui[oauth]'. Without"
        " it, have the client get the token and respond with `accessToken`."
    ) from error

_TIMEOUT_SECONDS = 10
_HOUR_SECONDS = 3600


def login_token(url: str, login: OAuth2Auth, code: str) -> OAuth2Auth:
    """Return the login with the tokens that its code is exchanged for (RFC 6749, 4.1.3)."""
    with _session(url, login) as session:
        proof = {"code_verifier": login.code_verifier} if login.code_verifier else {}
        tokens = session.fetch_token(
            url, grant_type="authorization_code", code=code, allow_redirects=False, **proof
        )
        return _with(login, tokens)


def client_token(url: str, client: OAuth2Auth, scopes: Sequence[str]) -> OAuth2Auth:
    """Return the client with a token of its own (RFC 6749, 4.4)."""
    with _session(url, client) as session:
        scope = {"scope": " ".join(scopes)} if scopes else {}
        tokens = session.fetch_token(
            url, grant_type="client_credentials", allow_redirects=False, **scope
        )
        return _with(client, tokens)


def new_token(url: str, expired: OAuth2Auth) -> OAuth2Auth:
    """Return the credential with new tokens (RFC 6749, 6).

    The refresh token stays if the server sends no new one.
    """
    with _session(url, expired) as session:
        tokens = session.refresh_token(
            url, refresh_token=expired.refresh_token, allow_redirects=False
        )
        return _with(expired, tokens)


def account_token(account: ServiceAccount) -> tuple[str, float]:
    """Return an access or ID token for the account's signed assertion, and when it expires.

    See RFC 7523, 2.1.
    """
    key = account.service_account_credential
    if key is None:
        raise CredentialExchangeError(
            "A service account needs service_account_credential: the default credential of"
            " Google Cloud is not supported."
        )
    if account.use_id_token:
        claims = {"target_audience": account.audience}
    else:
        claims = {"scope": " ".join(account.scopes or [])}
    with _refusals(key.token_uri):
        session = AssertionSession(
            token_endpoint=key.token_uri,
            issuer=key.client_email,
            subject=None,
            claims=claims,
            header={"alg": "RS256", "kid": key.private_key_id},
            key=RSAKey.import_key(key.private_key),
            default_timeout=_TIMEOUT_SECONDS,
        )
        with session:
            tokens = session.refresh_token()
        name = "id_token" if account.use_id_token else "access_token"
        return str(tokens[name]), float(tokens.get("expires_at") or get_time() + _HOUR_SECONDS)


@contextmanager
def _session(url: str, client: OAuth2Auth) -> Iterator[Any]:
    with _refusals(url):
        session = OAuth2Session(
            client.client_id,
            client.client_secret,
            redirect_uri=client.redirect_uri,
            token_endpoint_auth_method=(
                client.token_endpoint_auth_method if client.client_secret else "none"
            ),
            default_timeout=_TIMEOUT_SECONDS,
        )
        session.register_client_auth_method(ClientSecretJWT(url))
        session.register_client_auth_method(PrivateKeyJWT(url))
        for answer in ("access_token_response", "refresh_token_response"):
            session.register_compliance_hook(answer, _from_here)
        with session:
            yield session


def _from_here(response: Response) -> Response:
    """Return the response unless it is a redirect: secrets only go to the given address."""
    if response.is_redirect:
        raise ValueError(
            f"it redirects to {response.headers['location']}. Secrets are not sent there: use that"
            " URL as the token URL."
        )
    return response


@contextmanager
def _refusals(url: str) -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise CredentialExchangeError(f"The response from {url} has no {error}.") from error
    except (AuthlibBaseError, JoseError, RequestException, ValueError) as error:
        raise CredentialExchangeError(f"{url} returned no token: {error}") from error


def _with(oauth2: OAuth2Auth, tokens: dict[str, Any]) -> OAuth2Auth:
    """Return the credential with the tokens, without the login, which is used up."""
    if not tokens["access_token"]:
        raise KeyError("access_token")
    return oauth2.model_copy(
        update={
            "access_token": str(tokens["access_token"]),
            "refresh_token": tokens.get("refresh_token"),
            "id_token": tokens.get("id_token"),
            "expires_at": _seconds(tokens.get("expires_at")),
            "expires_in": _seconds(tokens.get("expires_in")),
            "auth_response_uri": None,
            "auth_code": None,
            "code_verifier": None,
        }
    )


def _seconds(value: Any) -> int | None:
    return None if value is None else int(value)
