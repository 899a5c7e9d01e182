"""Discovers the endpoints of an OAuth 2 server (RFC 8414, RFC 9728, OpenID Connect Discovery)."""

import logging
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from devui.runtime.auth.auth_schemes import (
    AuthScheme,
    ExtendedOAuth2,
    OAuth2,
    OAuthFlow,
    OAuthGrantType,
    OpenIdConnect,
    OpenIdConnectWithConfig,
)
from devui.runtime.http_client import httpx

logger = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 5
_WELL_KNOWN = "/.well-known"

M = TypeVar("M", bound=BaseModel)


class AuthorizationServerMetadata(BaseModel):
    """A server's metadata (RFC 8414), and what OpenID Connect adds."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    scopes_supported: list[str] | None = None
    registration_endpoint: str | None = None
    userinfo_endpoint: str | None = None
    revocation_endpoint: str | None = None
    grant_types_supported: list[str] | None = None
    token_endpoint_auth_methods_supported: list[str] | None = None


class ProtectedResourceMetadata(BaseModel):
    """The authorization servers that a service trusts (RFC 9728)."""

    resource: str
    authorization_servers: list[str] = []


class OAuth2DiscoveryManager:
    """Fetches metadata documents from their well-known places."""

    async def discover_auth_server_metadata(
        self, issuer_url: str
    ) -> AuthorizationServerMetadata | None:
        """Return an issuer's endpoints; None if no document has them and names that issuer."""
        base, path = _split(issuer_url)
        places = [
            f"{base}{_WELL_KNOWN}/oauth-authorization-server{path}",
            f"{base}{_WELL_KNOWN}/openid-configuration{path}",
        ]
        if path:
            places.append(f"{base}{path}{_WELL_KNOWN}/openid-configuration")
        for place in places:
            metadata = await _fetch(place, AuthorizationServerMetadata)
            if metadata is None:
                continue
            if metadata.issuer.rstrip("/") == issuer_url.rstrip("/"):
                return metadata
            logger.warning("%s describes %s, not %s; ignored.", place, metadata.issuer, issuer_url)
        return None

    async def discover_resource_metadata(
        self, resource_url: str
    ) -> ProtectedResourceMetadata | None:
        """Return the servers that a service trusts; None if no document says so for it."""
        base, path = _split(resource_url)
        place = f"{base}{_WELL_KNOWN}/oauth-protected-resource{path}"
        metadata = await _fetch(place, ProtectedResourceMetadata)
        if metadata is not None and metadata.resource.rstrip("/") != resource_url.rstrip("/"):
            logger.warning(
                "%s describes %s, not %s; ignored.", place, metadata.resource, resource_url
            )
            return None
        return metadata

    async def discover_openid_configuration(self, url: str) -> AuthorizationServerMetadata | None:
        """Return the document of an OpenID Connect scheme; None if it can't be fetched."""
        return await _fetch(url, AuthorizationServerMetadata)


def _split(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


async def _fetch(url: str, model: type[M]) -> M | None:
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_SECONDS) as client:
            response = await client.get(url)
            response.raise_for_status()
            return model.model_validate_json(response.content)
    except (httpx.HTTPError, httpx.InvalidURL, ValidationError) as error:
        logger.debug("No metadata at %s: %s", url, error)
        return None


# Schemes whose endpoints have to be looked up (adk-runtime 8.6).


async def complete(scheme: AuthScheme, discovery: OAuth2DiscoveryManager) -> AuthScheme:
    """Return the scheme with its endpoints; unchanged if it has them.

    Raises:
        ValueError: they are missing and can't be looked up.
    """
    if isinstance(scheme, OpenIdConnect):
        metadata = await discovery.discover_openid_configuration(scheme.openIdConnectUrl)
        if metadata is None:
            raise ValueError(f"{scheme.openIdConnectUrl} returned no OpenID Connect configuration.")
        return _with_config(scheme, metadata)
    if not isinstance(scheme, OAuth2) or not _is_incomplete(scheme):
        return scheme
    issuer = scheme.issuer_url if isinstance(scheme, ExtendedOAuth2) else None
    metadata = await discovery.discover_auth_server_metadata(issuer) if issuer else None
    if metadata is None:
        raise ValueError(
            "The OAuth2 scheme has no authorizationUrl or tokenUrl, and"
            + (f" {issuer} does not provide them." if issuer else " no issuer_url to ask.")
        )
    completed = scheme.model_copy(deep=True)
    for flow in _flows(completed):
        flow.authorizationUrl = flow.authorizationUrl or metadata.authorization_endpoint
        flow.tokenUrl = flow.tokenUrl or metadata.token_endpoint
    return completed


def _with_config(
    scheme: OpenIdConnect, metadata: AuthorizationServerMetadata
) -> OpenIdConnectWithConfig:
    extra = scheme.model_extra or {}
    fields = metadata.model_dump(include=set(OpenIdConnectWithConfig.model_fields))
    # What a server supports doesn't determine what this client uses; its author decides.
    grants = extra.get("grant_types_supported") or [OAuthGrantType.AUTHORIZATION_CODE.value]
    scopes = extra.get("scopes") or ["openid"]
    return OpenIdConnectWithConfig(
        **{**fields, "grant_types_supported": grants, "scopes": list(scopes)}
    )


def _flows(scheme: OAuth2) -> list[OAuthFlow]:
    flows = scheme.flows
    candidates = (flows.implicit, flows.password, flows.clientCredentials, flows.authorizationCode)
    return [flow for flow in candidates if flow is not None]


def _is_incomplete(scheme: OAuth2) -> bool:
    flows = scheme.flows
    code = flows.authorizationCode
    return bool(
        (code and not (code.authorizationUrl and code.tokenUrl))
        or (flows.implicit and not flows.implicit.authorizationUrl)
        or any(flow and not flow.tokenUrl for flow in (flows.clientCredentials, flows.password))
    )
