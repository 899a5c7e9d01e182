"""Schemes and credentials for `OpenAPIToolset` and `McpToolset` (adk-runtime 8.6, 8.9)."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from devui.runtime.auth.auth_credential import (
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
    ServiceAccount,
    ServiceAccountCredential,
)
from devui.runtime.auth.auth_schemes import (
    APIKey,
    AuthScheme,
    HTTPBase,
    HTTPBearer,
    OAuth2,
    OAuthFlow,
    OAuthFlows,
    OpenIdConnect,
    OpenIdConnectWithConfig,
)
from devui.runtime.http_client import httpx

__all__ = [
    "dict_to_auth_scheme",
    "openid_dict_to_scheme_credential",
    "openid_url_to_scheme_credential",
    "service_account_dict_to_scheme_credential",
    "service_account_scheme_credential",
    "token_to_scheme_credential",
]

_DISCOVERY_SECONDS = 10
_GOOGLES_TOKENS = "https://oauth2.googleapis.com/token"
_PLACES = ("header", "query", "cookie")
_SCHEME: TypeAdapter[Any] = TypeAdapter(
    APIKey | HTTPBearer | HTTPBase | OAuth2 | OpenIdConnectWithConfig | OpenIdConnect
)


def token_to_scheme_credential(
    token_type: Literal["apikey", "oauth2Token"],
    location: Literal["header", "query", "cookie"] | None = None,
    name: str | None = None,
    credential_value: str | None = None,
) -> tuple[AuthScheme, AuthCredential | None]:
    """Return the scheme and credential for an existing key or bearer token.

    Args:
        token_type: `apikey`, or `oauth2Token` for a token in the Authorization header.
        location: Where a key is sent.
        name: The header, parameter or cookie of a key.
        credential_value: The key or token; without one, there is no credential.

    Raises:
        ValueError: the type or the location isn't one of these, or a key has no name.
    """
    if token_type == "oauth2Token":  # noqa: S105  the name of a kind of token
        if not credential_value:
            return HTTPBearer(bearerFormat="JWT"), None
        token = HttpAuth(scheme="bearer", credentials=HttpCredentials(token=credential_value))
        return HTTPBearer(bearerFormat="JWT"), AuthCredential(
            auth_type=AuthCredentialTypes.HTTP, http=token
        )
    if token_type != "apikey":  # noqa: S105
        raise ValueError(f"token_type is {token_type!r}; use 'apikey' or 'oauth2Token'.")
    if location not in _PLACES or not name:
        raise ValueError(
            f"An API key needs a name and a location ({', '.join(_PLACES)}); got"
            f" location={location!r} and name={name!r}."
        )
    scheme = APIKey.model_validate({"in": location, "name": name})
    if not credential_value:
        return scheme, None
    return scheme, AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key=credential_value)


def service_account_dict_to_scheme_credential(
    config: Mapping[str, Any], scopes: list[str]
) -> tuple[AuthScheme, AuthCredential]:
    """Return a Google Cloud account, from its key file's contents and the scopes to request."""
    # Not validated, since older key files lack fields that aren't used here.
    key = ServiceAccountCredential.model_construct(**config)
    return service_account_scheme_credential(
        ServiceAccount.model_construct(service_account_credential=key, scopes=scopes)
    )


def service_account_scheme_credential(config: ServiceAccount) -> tuple[AuthScheme, AuthCredential]:
    """Return a Google Cloud account; its token is requested when a tool first needs it."""
    flow = OAuthFlow(tokenUrl=_GOOGLES_TOKENS, scopes=dict.fromkeys(config.scopes or [], ""))
    credential = AuthCredential(
        auth_type=AuthCredentialTypes.SERVICE_ACCOUNT, service_account=config
    )
    return OAuth2(flows=OAuthFlows(clientCredentials=flow)), credential


def openid_dict_to_scheme_credential(
    config_dict: Mapping[str, Any], scopes: list[str], credential_dict: Mapping[str, Any]
) -> tuple[OpenIdConnectWithConfig, AuthCredential]:
    """Return a login by OpenID Connect with known endpoints.

    Args:
        config_dict: `authorization_endpoint`, `token_endpoint` and the provider's other settings.
        scopes: The scopes that the user is asked for.
        credential_dict: The client's `client_id`, `client_secret` and, if needed, `redirect_uri`;
            or a dict with these as its only value, as in Google's downloads.

    Raises:
        ValueError: something is missing.
    """
    try:
        scheme = OpenIdConnectWithConfig.model_validate(
            {"openIdConnectUrl": "", **config_dict, "scopes": scopes}
        )
    except ValidationError as error:
        raise ValueError(f"Not a valid OpenID Connect configuration: {error}") from error
    return scheme, AuthCredential(
        auth_type=AuthCredentialTypes.OPEN_ID_CONNECT, oauth2=_client(credential_dict)
    )


def openid_url_to_scheme_credential(
    openid_url: str, scopes: list[str], credential_dict: Mapping[str, Any]
) -> tuple[OpenIdConnectWithConfig, AuthCredential]:
    """Return a login by OpenID Connect with endpoints from the provider, which may take seconds.

    Raises:
        ValueError: the provider can't be reached, or something is missing.
    """
    try:
        response = httpx.get(openid_url, timeout=_DISCOVERY_SECONDS)
        response.raise_for_status()
        config = dict(response.json())
    except (httpx.HTTPError, ValueError, TypeError) as error:
        raise ValueError(
            f"{openid_url} returned no OpenID Connect configuration: {error!r}"
        ) from error
    config["openIdConnectUrl"] = openid_url
    return openid_dict_to_scheme_credential(config, scopes, credential_dict)


def dict_to_auth_scheme(data: Mapping[str, Any]) -> AuthScheme:
    """Return the security scheme in an OpenAPI description.

    Raises:
        ValueError: it isn't a security scheme.
    """
    if "type" not in data:
        raise ValueError(
            "The security scheme has no `type`. Set it to apiKey, http, oauth2 or openIdConnect."
        )
    try:
        scheme: AuthScheme = _SCHEME.validate_python(data)
    except ValidationError as error:
        raise ValueError(f"Not a valid security scheme: {error}") from error
    return scheme


def _client(fields: Mapping[str, Any]) -> OAuth2Auth:
    values = list(fields.values())
    if len(values) == 1 and isinstance(values[0], Mapping):
        fields = values[0]
    missing = [name for name in ("client_id", "client_secret") if name not in fields]
    if missing:
        raise ValueError(f"The client's credentials lack {' and '.join(missing)}.")
    return OAuth2Auth(
        client_id=fields["client_id"],
        client_secret=fields["client_secret"],
        redirect_uri=fields.get("redirect_uri"),
    )
