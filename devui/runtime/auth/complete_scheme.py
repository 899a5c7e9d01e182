"""Schemes that leave their endpoints to be looked up (adk-runtime 8.6)."""

from devui.runtime.auth.auth_schemes import (
    AuthScheme,
    ExtendedOAuth2,
    OAuth2,
    OAuthFlow,
    OAuthGrantType,
    OpenIdConnect,
    OpenIdConnectWithConfig,
)
from devui.runtime.auth.oauth2_discovery import (
    AuthorizationServerMetadata,
    OAuth2DiscoveryManager,
)


async def complete(scheme: AuthScheme, discovery: OAuth2DiscoveryManager) -> AuthScheme:
    """The scheme with its endpoints; itself if it has them.

    Raises:
        ValueError: they are missing, and cannot be looked up.
    """
    if isinstance(scheme, OpenIdConnect):
        found = await discovery.discover_openid_configuration(scheme.openIdConnectUrl)
        if found is None:
            raise ValueError(f"{scheme.openIdConnectUrl} is no OpenID Connect configuration.")
        return _with_config(scheme, found)
    if not isinstance(scheme, OAuth2) or not _is_incomplete(scheme):
        return scheme
    issuer = scheme.issuer_url if isinstance(scheme, ExtendedOAuth2) else None
    found = await discovery.discover_auth_server_metadata(issuer) if issuer else None
    if found is None:
        raise ValueError(
            "The OAuth2 scheme has no authorizationUrl or tokenUrl, and"
            + (f" {issuer} does not tell them." if issuer else " no issuer_url to ask for them.")
        )
    completed = scheme.model_copy(deep=True)
    for flow in _flows(completed):
        flow.authorizationUrl = flow.authorizationUrl or found.authorization_endpoint
        flow.tokenUrl = flow.tokenUrl or found.token_endpoint
    return completed


def _with_config(
    scheme: OpenIdConnect, found: AuthorizationServerMetadata
) -> OpenIdConnectWithConfig:
    extra = scheme.model_extra or {}
    told = found.model_dump(include=set(OpenIdConnectWithConfig.model_fields))
    # What a server supports does not tell what this client uses; that is for its author to say.
    grants = extra.get("grant_types_supported") or [OAuthGrantType.AUTHORIZATION_CODE.value]
    scopes = extra.get("scopes") or ["openid"]
    return OpenIdConnectWithConfig(
        **{**told, "grant_types_supported": grants, "scopes": list(scopes)}
    )


def _flows(scheme: OAuth2) -> list[OAuthFlow]:
    flows = scheme.flows
    given = (flows.implicit, flows.password, flows.clientCredentials, flows.authorizationCode)
    return [flow for flow in given if flow is not None]


def _is_incomplete(scheme: OAuth2) -> bool:
    flows = scheme.flows
    code = flows.authorizationCode
    return bool(
        (code and not (code.authorizationUrl and code.tokenUrl))
        or (flows.implicit and not flows.implicit.authorizationUrl)
        or any(flow and not flow.tokenUrl for flow in (flows.clientCredentials, flows.password))
    )
