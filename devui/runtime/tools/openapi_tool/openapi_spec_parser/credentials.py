"""Credentials in HTTP requests (adk-runtime 8.6, 8.9)."""

import base64
from typing import TYPE_CHECKING

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import APIKey, AuthScheme
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.tools.openapi_tool.openapi_spec_parser.requests import Request

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


def credential_for(
    scheme: AuthScheme, raw: AuthCredential | None, key: str | None, context: "Context | None"
) -> AuthCredential | None:
    """A credential that can be sent; None after asking the user for one.

    API keys, passwords and tokens are used as they are; everything else must come from the user's
    answer.
    """
    if raw is not None and _is_ready(raw):
        return raw
    if context is None:
        return None
    config = AuthConfig(auth_scheme=scheme, raw_auth_credential=raw, credential_key=key)
    given = context.get_auth_response(config)
    if given is not None and _is_ready(given):
        return given
    context.request_credential(config)
    return None


def put(request: Request, scheme: AuthScheme, credential: AuthCredential) -> None:
    """Put the credential where the scheme wants it."""
    if credential.api_key and isinstance(scheme, APIKey):
        if scheme.in_ == "query":
            request.query.append((scheme.name, credential.api_key))
        else:
            place = request.headers if scheme.in_ == "header" else request.cookies
            place[scheme.name] = credential.api_key
    elif credential.oauth2 and credential.oauth2.access_token:
        request.headers["Authorization"] = f"Bearer {credential.oauth2.access_token}"
    elif credential.http:
        given = credential.http.credentials
        if given.token:
            said = f"{credential.http.scheme.title()} {given.token}"
        else:
            pair = f"{given.username or ''}:{given.password or ''}"
            said = f"Basic {base64.b64encode(pair.encode()).decode()}"
        request.headers["Authorization"] = said
        request.headers.update(credential.http.additional_headers or {})


def _is_ready(credential: AuthCredential) -> bool:
    if credential.api_key or (credential.oauth2 and credential.oauth2.access_token):
        return True
    given = credential.http.credentials if credential.http else None
    return given is not None and bool(given.token or given.username)
