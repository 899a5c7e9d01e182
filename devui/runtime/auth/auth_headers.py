"""Credentials as HTTP headers (adk-runtime 8.6, 8.9)."""

import base64

from devui.runtime.auth.auth_credential import AuthCredential, HttpAuth


def is_sendable(credential: AuthCredential) -> bool:
    """Whether the credential holds a key, a token, a password or headers to be sent as it is."""
    if credential.api_key or (credential.oauth2 and credential.oauth2.access_token):
        return True
    http = credential.http
    return http is not None and (_is_told(http) or bool(http.additional_headers))


def authorization_headers(credential: AuthCredential) -> dict[str, str]:
    """The headers that carry a token or a password; empty for API keys, which a scheme places."""
    if credential.oauth2 and credential.oauth2.access_token:
        return {"Authorization": f"Bearer {credential.oauth2.access_token}"}
    if credential.http:
        own = {"Authorization": _said(credential.http)} if _is_told(credential.http) else {}
        return own | (credential.http.additional_headers or {})
    return {}


def _is_told(http: HttpAuth) -> bool:
    given = http.credentials
    return bool(given.token or given.username or given.password)


def _said(http: HttpAuth) -> str:
    given = http.credentials
    if given.token:
        # The names of schemes are case-insensitive, and some services know only the usual form.
        return f"{http.scheme.title()} {given.token}"
    pair = f"{given.username or ''}:{given.password or ''}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
