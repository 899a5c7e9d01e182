"""The kind of credential a tool needs: the security schemes of OpenAPI 3 (adk-runtime 8.6)."""

from enum import Enum, StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from devui.runtime.auth.auth_credential import AuthModel


class SecuritySchemeType(StrEnum):
    """The `type` of a scheme, as OpenAPI writes it."""

    apiKey = "apiKey"  # noqa: N815  the member names are public and spelled as in OpenAPI
    http = "http"
    oauth2 = "oauth2"
    openIdConnect = "openIdConnect"  # noqa: N815


AuthSchemeType = SecuritySchemeType


class SecurityBase(BaseModel):
    """The base class of OpenAPI's schemes."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, defer_build=True)

    type_: SecuritySchemeType = Field(alias="type")
    description: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_others(cls, scheme: Any) -> Any:
        """Accept flows and types from another library's models."""
        return (
            {key: _own(value) for key, value in scheme.items()} if type(scheme) is dict else scheme
        )


class APIKey(SecurityBase):
    """A key in a header, the query or a cookie."""

    type_: Literal[SecuritySchemeType.apiKey] = Field(SecuritySchemeType.apiKey, alias="type")
    in_: Literal["query", "header", "cookie"] = Field(alias="in")
    name: str


class HTTPBase(SecurityBase):
    """HTTP authentication by the given scheme (`basic`, `bearer`, …)."""

    type_: Literal[SecuritySchemeType.http] = Field(SecuritySchemeType.http, alias="type")
    scheme: str


class HTTPBearer(HTTPBase):
    """A bearer token."""

    scheme: Literal["bearer"] = "bearer"
    bearerFormat: str | None = None  # noqa: N815  OpenAPI's spelling


class OAuthFlow(BaseModel):
    """One way to get a token; the fields are spelled as in OpenAPI."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    refreshUrl: str | None = None  # noqa: N815
    scopes: dict[str, str] = Field(default_factory=dict)
    authorizationUrl: str | None = None  # noqa: N815
    tokenUrl: str | None = None  # noqa: N815


class OAuthFlows(BaseModel):
    """The flows that an OAuth2 server offers."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    implicit: OAuthFlow | None = None
    password: OAuthFlow | None = None
    clientCredentials: OAuthFlow | None = None  # noqa: N815
    authorizationCode: OAuthFlow | None = None  # noqa: N815


class OAuthGrantType(StrEnum):
    """How a token is obtained; the values are those of the `grant_type` parameter."""

    CLIENT_CREDENTIALS = "client_credentials"
    AUTHORIZATION_CODE = "authorization_code"
    IMPLICIT = "implicit"
    PASSWORD = "password"  # noqa: S105  the name of a grant

    @staticmethod
    def from_flow(flow: OAuthFlows) -> "OAuthGrantType | None":
        """Return the grant of the given flows; of several, the one that asks the user least."""
        if flow.clientCredentials:
            return OAuthGrantType.CLIENT_CREDENTIALS
        if flow.authorizationCode:
            return OAuthGrantType.AUTHORIZATION_CODE
        if flow.implicit:
            return OAuthGrantType.IMPLICIT
        return OAuthGrantType.PASSWORD if flow.password else None


class OAuth2(SecurityBase):
    """OAuth 2 by one of the given flows."""

    type_: Literal[SecuritySchemeType.oauth2] = Field(SecuritySchemeType.oauth2, alias="type")
    flows: OAuthFlows


class ExtendedOAuth2(OAuth2):
    """OAuth 2 with endpoints discovered from the issuer (RFC 8414)."""

    issuer_url: str | None = None


class OpenIdConnect(SecurityBase):
    """OpenID Connect with a discovery document."""

    type_: Literal[SecuritySchemeType.openIdConnect] = Field(
        SecuritySchemeType.openIdConnect, alias="type"
    )
    openIdConnectUrl: str  # noqa: N815


class OpenIdConnectWithConfig(SecurityBase):
    """OpenID Connect with explicit endpoints."""

    type_: Literal[SecuritySchemeType.openIdConnect] = Field(
        SecuritySchemeType.openIdConnect, alias="type"
    )
    """Always `openIdConnect`."""
    authorization_endpoint: str
    """Where the user logs in."""
    token_endpoint: str
    """Where a code is exchanged for a token."""
    userinfo_endpoint: str | None = None
    """Where the server returns data about the user."""
    revocation_endpoint: str | None = None
    """Where a token is revoked."""
    token_endpoint_auth_methods_supported: list[str] | None = None
    """The ways in which clients may authenticate."""
    grant_types_supported: list[str] | None = None
    """The ways in which a token can be obtained."""
    scopes: list[str] | None = None
    """What the token gives access to."""


class CustomAuthScheme(AuthModel):
    """Base class of custom schemes; subclasses give `type_` a default."""

    type_: str = Field(alias="type")


_OURS = (SecurityBase, CustomAuthScheme, OAuthFlow, OAuthFlows)


def _own(value: Any) -> Any:
    """Return values of another library's models (such as fastapi's) as plain data."""
    if isinstance(value, BaseModel) and not isinstance(value, _OURS):
        return value.model_dump(by_alias=True, exclude_none=True, mode="json")
    return value.value if isinstance(value, Enum) else value


def _scheme(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
            f"{value!r} is only the name of a scheme type; pass a complete scheme, such as"
            ' APIKey(in_="header", name="X-Key"), HTTPBearer() or OAuth2(flows=...).'
        )
    return _own(value)


AuthScheme = Annotated[
    APIKey
    | HTTPBearer
    | HTTPBase
    | ExtendedOAuth2
    | OAuth2
    | OpenIdConnectWithConfig
    | OpenIdConnect
    | CustomAuthScheme,
    BeforeValidator(_scheme),
]
"""Any scheme; fastapi's models, which google-adk uses, are accepted, too."""


def own_scheme(scheme: Any) -> Any:
    """Return a scheme as one of these classes; None stays None. See `AuthScheme`.

    Raises:
        pydantic.ValidationError: it is not a scheme.
    """
    if scheme is None or isinstance(scheme, SecurityBase | CustomAuthScheme):
        return scheme
    return TypeAdapter(AuthScheme).validate_python(scheme)


# What a security scheme says about an OAuth 2 server (adk-runtime 8.6).


_BY_OAUTH2 = {SecuritySchemeType.oauth2, SecuritySchemeType.openIdConnect}


def is_oauth2(scheme: AuthScheme) -> bool:
    """Return whether credentials of the scheme are tokens of OAuth 2 or OpenID Connect."""
    return scheme.type_ in _BY_OAUTH2


def grant_of(scheme: AuthScheme) -> OAuthGrantType | None:
    """Return how a token is obtained; None if the scheme doesn't say."""
    if isinstance(scheme, OAuth2):
        return OAuthGrantType.from_flow(scheme.flows)
    if isinstance(scheme, OpenIdConnectWithConfig):
        by_client = OAuthGrantType.CLIENT_CREDENTIALS in (scheme.grant_types_supported or [])
        return OAuthGrantType.CLIENT_CREDENTIALS if by_client else OAuthGrantType.AUTHORIZATION_CODE
    return None


def login_endpoint(scheme: AuthScheme) -> tuple[str, list[str]]:
    """Return where users log in, and for which scopes.

    Raises:
        ValueError: the scheme doesn't say.
    """
    if isinstance(scheme, OpenIdConnectWithConfig):
        return scheme.authorization_endpoint, list(scheme.scopes or [])
    flow = None
    if isinstance(scheme, OAuth2):
        flow = scheme.flows.authorizationCode or scheme.flows.implicit
    if flow is None or not flow.authorizationUrl:
        raise ValueError(
            f"{type(scheme).__name__} doesn't specify where the user logs in: give it an"
            " authorizationUrl, or the raw credential an auth_uri."
        )
    return flow.authorizationUrl, list(flow.scopes)


def token_endpoint(scheme: AuthScheme | None) -> tuple[str, list[str]]:
    """Return where tokens come from, and which scopes a client requests for itself.

    Raises:
        ValueError: the scheme doesn't say.
    """
    if isinstance(scheme, OpenIdConnectWithConfig):
        return scheme.token_endpoint, list(scheme.scopes or [])
    flow = _token_flow(scheme) if isinstance(scheme, OAuth2) else None
    if flow is None or not flow.tokenUrl:
        raise ValueError(
            f"{type(scheme).__name__} doesn't specify where tokens come from: give its flow a"
            " tokenUrl."
        )
    return flow.tokenUrl, list(flow.scopes)


def _token_flow(scheme: OAuth2) -> OAuthFlow | None:
    flows = scheme.flows
    return flows.clientCredentials or flows.authorizationCode or flows.password
