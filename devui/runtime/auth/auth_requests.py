"""What goes to the client when a tool asks for a credential, and what comes back.

Source: adk-runtime 8.6.
"""

import secrets
from typing import Any
from urllib.parse import urlencode

from devui.runtime.auth.auth_credential import AuthCredential, OAuth2Auth
from devui.runtime.auth.auth_schemes import OAuth2, OpenIdConnectWithConfig, SecuritySchemeType
from devui.runtime.auth.auth_tool import AuthConfig

_WITH_LOGIN = {SecuritySchemeType.oauth2, SecuritySchemeType.openIdConnect}


def auth_request(config: AuthConfig) -> AuthConfig:
    """The question for the client. It is stored and shown, so it holds none of the agent's secrets.

    For OAuth2 and OpenID Connect it holds the address where the user logs in.

    Raises:
        ValueError: the config does not tell where the user can log in, or as which client.
    """
    exchanged = config.exchanged_auth_credential
    if config.auth_scheme.type_ in _WITH_LOGIN and not _auth_uri(exchanged):
        exchanged = _with_login(config)
    return config.model_copy(
        update={
            "raw_auth_credential": _redacted(config.raw_auth_credential),
            "exchanged_auth_credential": _redacted(exchanged),
        }
    )


def credential_of(response: dict[str, Any], asked: AuthConfig) -> AuthCredential | None:
    """The credential in a client's answer: an AuthConfig with it, or the credential alone.

    Of an AuthConfig only the credential is taken: scheme and key are those that were asked for.

    Raises:
        ValueError: the answer is a login that has yet to be exchanged for a token.
    """
    config = response.get("authConfig", response)
    if "authType" in config or "auth_type" in config:
        credential = AuthCredential.model_validate(config)
    else:
        key = {"credentialKey": asked.credential_key}
        answered = AuthConfig.model_validate({**config, **key}).exchanged_auth_credential
        if answered is None:
            return None
        credential = answered
    oauth2 = credential.oauth2
    if oauth2 and not oauth2.access_token and (oauth2.auth_response_uri or oauth2.auth_code):
        raise ValueError(
            f"The credential {asked.credential_key!r} is a login without a token, and devui does"
            " not exchange logins for tokens: let the client do that and send `accessToken`."
        )
    return credential


def _auth_uri(credential: AuthCredential | None) -> str | None:
    return credential.oauth2.auth_uri if credential and credential.oauth2 else None


def _with_login(config: AuthConfig) -> AuthCredential:
    raw = config.raw_auth_credential
    if raw is None or raw.oauth2 is None:
        raise ValueError(
            "An AuthConfig for OAuth2 or OpenID Connect needs a raw_auth_credential with oauth2."
        )
    if raw.oauth2.auth_uri:
        return raw.model_copy(deep=True)
    if not raw.oauth2.client_id:
        raise ValueError("raw_auth_credential.oauth2 needs a client_id, or a ready auth_uri.")
    state = raw.oauth2.state or secrets.token_urlsafe(24)
    login = raw.model_copy(deep=True)
    login.oauth2 = raw.oauth2.model_copy(
        update={"auth_uri": _login_uri(config, raw.oauth2, state), "state": state}
    )
    return login


def _login_uri(config: AuthConfig, oauth2: OAuth2Auth, state: str) -> str:
    """Where the user logs in (RFC 6749, 4.1.1)."""
    endpoint, scopes = _endpoint(config)
    query = {
        "response_type": "code",
        "client_id": oauth2.client_id,
        "redirect_uri": oauth2.redirect_uri,
        "scope": " ".join(scopes),
        "state": state,
        "access_type": "offline",
        "prompt": oauth2.prompt or "consent",
        "audience": oauth2.audience,
    }
    given = urlencode({name: value for name, value in query.items() if value})
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{given}"


def _endpoint(config: AuthConfig) -> tuple[str, list[str]]:
    scheme = config.auth_scheme
    if isinstance(scheme, OpenIdConnectWithConfig):
        return scheme.authorization_endpoint, list(scheme.scopes or [])
    flow = None
    if isinstance(scheme, OAuth2):
        flow = scheme.flows.authorizationCode or scheme.flows.implicit
    if flow is None or not flow.authorizationUrl:
        raise ValueError(
            f"{type(scheme).__name__} does not tell where the user logs in: give it an"
            " authorizationUrl, or the raw credential an auth_uri."
        )
    return flow.authorizationUrl, list(flow.scopes)


def _redacted(credential: AuthCredential | None) -> AuthCredential | None:
    """The credential without what belongs to the agent alone."""
    if credential is None:
        return None
    copied = credential.model_copy(deep=True)
    copied.api_key = None
    if copied.oauth2 is not None:
        copied.oauth2.client_secret = None
    if copied.http is not None:
        copied.http.credentials.password = None
        copied.http.credentials.token = None
        copied.http.additional_headers = None
    return copied
