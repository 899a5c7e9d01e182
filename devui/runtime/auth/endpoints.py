"""What a security scheme tells about an OAuth 2 server (adk-runtime 8.6)."""

from devui.runtime.auth.auth_schemes import (
    AuthScheme,
    OAuth2,
    OAuthFlow,
    OAuthGrantType,
    OpenIdConnectWithConfig,
    SecuritySchemeType,
)

_BY_OAUTH2 = {SecuritySchemeType.oauth2, SecuritySchemeType.openIdConnect}


def is_oauth2(scheme: AuthScheme) -> bool:
    """Whether credentials of the scheme are tokens of OAuth 2 or OpenID Connect."""
    return scheme.type_ in _BY_OAUTH2


def grant_of(scheme: AuthScheme) -> OAuthGrantType | None:
    """How a token is obtained; None if the scheme does not tell."""
    if isinstance(scheme, OAuth2):
        return OAuthGrantType.from_flow(scheme.flows)
    if isinstance(scheme, OpenIdConnectWithConfig):
        by_client = OAuthGrantType.CLIENT_CREDENTIALS in (scheme.grant_types_supported or [])
        return OAuthGrantType.CLIENT_CREDENTIALS if by_client else OAuthGrantType.AUTHORIZATION_CODE
    return None


def login_endpoint(scheme: AuthScheme) -> tuple[str, list[str]]:
    """Where users log in, and for which scopes.

    Raises:
        ValueError: the scheme does not tell.
    """
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


def token_endpoint(scheme: AuthScheme | None) -> tuple[str, list[str]]:
    """Where tokens come from, and for which scopes a client asks for itself.

    Raises:
        ValueError: the scheme does not tell.
    """
    if isinstance(scheme, OpenIdConnectWithConfig):
        return scheme.token_endpoint, list(scheme.scopes or [])
    flow = _token_flow(scheme) if isinstance(scheme, OAuth2) else None
    if flow is None or not flow.tokenUrl:
        raise ValueError(
            f"{type(scheme).__name__} does not tell where tokens come from: give its flow a"
            " tokenUrl."
        )
    return flow.tokenUrl, list(flow.scopes)


def _token_flow(scheme: OAuth2) -> OAuthFlow | None:
    flows = scheme.flows
    return flows.clientCredentials or flows.authorizationCode or flows.password
