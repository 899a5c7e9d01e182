"""Credentials: keys, tokens, accounts (adk-runtime 8.6). Secrets stay out of reprs."""

import base64
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from devui.runtime.mistakes import unknown_names, warn_of_ignored

_HIDDEN = "<hidden>"


def _secret(**kwargs: Any) -> FieldInfo:
    """Return a field that no repr, log line or error message shows."""
    field = Field(repr=False, **kwargs)
    assert isinstance(field, FieldInfo)  # noqa: S101  Field() is typed Any
    return field


Secret = Annotated[str | None, _secret()]


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


class AuthModel(BaseModel):
    """The base class of auth models: camelCase JSON; unknown keys are kept, but never shown."""

    model_config = ConfigDict(
        extra="allow",
        alias_generator=to_camel,
        populate_by_name=True,
        hide_input_in_errors=True,
        defer_build=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _tell_of_misspelt(cls, values: Any) -> Any:
        """Warn of an unknown key that differs from a field only in case or underscores."""
        names = {_plain(name): name for name in cls.model_fields}
        for name, _ in unknown_names(values, cls.model_fields):
            if suggestion := names.get(_plain(name)):
                warn_of_ignored(cls, name, f"; did you mean `{suggestion}`?")
        return values

    def __repr_args__(self) -> Any:
        """Hide the values of unknown keys: a token may arrive under any name."""
        extra = self.__pydantic_extra__ or {}
        for key, value in super().__repr_args__():
            yield key, _HIDDEN if key in extra else value


class HttpCredentials(AuthModel):
    """User and password, or a token."""

    username: str | None = None
    """For `basic`."""
    password: Secret = None
    """For `basic`."""
    token: Secret = None
    """For `bearer` and its like."""


class HttpAuth(AuthModel):
    """Credentials for an HTTP scheme such as `basic` or `bearer`."""

    scheme: str
    """The scheme name in the header: `basic`, `bearer`, …"""
    credentials: HttpCredentials
    """What follows that name."""
    additional_headers: Annotated[dict[str, str] | None, _secret()] = None
    """Additional headers to send."""


class OAuth2Auth(AuthModel):
    """The values of an OAuth2 or OpenID Connect exchange."""

    client_id: str | None = None
    """The id under which the server knows the app."""
    client_secret: Secret = None
    """Proves the app's identity; None for an app that can't keep a secret."""
    auth_uri: str | None = None
    """The address where the user logs in; created when the user is asked."""
    nonce: str | None = None
    """For OpenID Connect: a value that the server repeats in its token."""
    state: str | None = None
    """A value that the server repeats in its answer, so that no other answer is accepted."""
    redirect_uri: str | None = None
    """Where the server sends the user after the login."""
    auth_response_uri: Secret = None
    """The address that the user was sent to: the answer to the request."""
    auth_code: Secret = None
    """The code that the server gave the user, to be exchanged for a token."""
    access_token: Secret = None
    """The token that is sent with requests."""
    refresh_token: Secret = None
    """Used to get a new token when the old one has expired."""
    id_token: Secret = None
    """Identifies the user, by OpenID Connect."""
    expires_at: int | None = None
    """When the access token expires, in Unix seconds."""
    expires_in: int | None = None
    """The lifetime of the access token, in seconds."""
    audience: str | None = None
    """The service that the token is for."""
    prompt: str | None = None
    """Whether the server asks the user again: `consent`, `login`, `none`."""
    code_verifier: Secret = None
    """The secret of one login (PKCE); created when the user is asked."""
    code_challenge_method: str | None = None
    """`S256` for PKCE; None for no proof if there is a client secret."""
    token_endpoint_auth_method: (
        Literal["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"]
        | None
    ) = "client_secret_basic"  # noqa: S105  the name of a method
    """How the client secret is sent in requests for a token."""


class ServiceAccountCredential(AuthModel):
    """The key file of a Google service account."""

    type_: str = Field("", alias="type")
    """Always `service_account`."""
    project_id: str
    """The project of the account."""
    private_key_id: Annotated[str, _secret()]
    """The id of the key."""
    private_key: Annotated[str, _secret()]
    """The key, in PEM."""
    client_email: str
    """The name of the account."""
    client_id: str
    """The number of the account."""
    auth_uri: str
    """Where Google's users log in."""
    token_uri: str
    """Where the key is exchanged for a token."""
    auth_provider_x509_cert_url: str
    """Google's certificates."""
    client_x509_cert_url: str
    """The account's certificates."""
    universe_domain: str
    """`googleapis.com`, or that of another cloud."""


class ServiceAccount(AuthModel):
    """A service account: its key, or the environment's default one."""

    service_account_credential: ServiceAccountCredential | None = None
    """The key; None uses the default one."""
    scopes: list[str] | None = None
    """What the token gives access to."""
    use_default_credential: bool | None = False
    """Whether to use the account of the environment, such as that of a machine in the cloud."""
    use_id_token: bool | None = False
    """Whether to get a token that identifies the account to `audience`."""
    audience: str | None = None
    """The address of the service that is called; for id tokens."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.use_default_credential and self.service_account_credential is None:
            raise ValueError(
                "A ServiceAccount needs a service_account_credential, or"
                " use_default_credential=True to use the environment's account."
            )
        if self.use_id_token and not self.audience:
            raise ValueError(
                "use_id_token=True needs an audience, the URL of the service that is called,"
                " such as 'https://my-service.run.app'."
            )
        return self


class AuthCredentialTypes(StrEnum):
    """The kinds of credentials, named as in OpenAPI."""

    API_KEY = "apiKey"
    HTTP = "http"
    OAUTH2 = "oauth2"
    OPEN_ID_CONNECT = "openIdConnect"
    SERVICE_ACCOUNT = "serviceAccount"


class AuthCredential(AuthModel):
    """A credential of one of several types."""

    auth_type: AuthCredentialTypes
    """The type, which determines the field below that holds the credential."""
    resource_ref: str | None = None
    """The name of a credential that is stored elsewhere."""
    api_key: Secret = None
    """For `apiKey`."""
    http: HttpAuth | None = None
    """For `http`."""
    service_account: ServiceAccount | None = None
    """For `serviceAccount`."""
    oauth2: OAuth2Auth | None = None
    """For `oauth2` and `openIdConnect`."""


# Credentials as HTTP headers (adk-runtime 8.6, 8.9).


def is_sendable(credential: AuthCredential) -> bool:
    """Return whether the credential holds a key, token, password or headers to send as is."""
    if credential.api_key or (credential.oauth2 and credential.oauth2.access_token):
        return True
    http = credential.http
    return http is not None and (_is_told(http) or bool(http.additional_headers))


def authorization_headers(credential: AuthCredential) -> dict[str, str]:
    """Return the headers for a token or password; empty for API keys.

    An API key is sent where its scheme says.
    """
    if credential.oauth2 and credential.oauth2.access_token:
        return {"Authorization": f"Bearer {credential.oauth2.access_token}"}
    if credential.http:
        own = (
            {"Authorization": _authorization(credential.http)} if _is_told(credential.http) else {}
        )
        return own | (credential.http.additional_headers or {})
    return {}


def _is_told(http: HttpAuth) -> bool:
    credentials = http.credentials
    return bool(credentials.token or credentials.username or credentials.password)


def _authorization(http: HttpAuth) -> str:
    credentials = http.credentials
    if credentials.token:
        # Scheme names are case-insensitive, but some services only accept the usual form.
        return f"{http.scheme.title()} {credentials.token}"
    pair = f"{credentials.username or ''}:{credentials.password or ''}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


# The agent's OAuth 2 client, in credentials that belong to its user (adk-runtime 8.6).
#
# The client's secret is the agent's. It is removed from what clients and stores may see, and
# restored from the agent's configuration when a token is needed.


_CLIENT = ("client_id", "client_secret", "token_endpoint_auth_method")


def without_secret(credential: AuthCredential | None) -> AuthCredential | None:
    """Return a copy of the credential without the client's secret."""
    return _updated(credential, {"client_secret": None})


def with_secret(
    credential: AuthCredential | None, raw: AuthCredential | None
) -> AuthCredential | None:
    """Return a copy of the credential with the configured secret."""
    if raw is None or raw.oauth2 is None:
        return credential
    return _updated(credential, {"client_secret": raw.oauth2.client_secret})


def with_client(credential: AuthCredential, raw: AuthCredential | None) -> AuthCredential:
    """Return a copy with the configured client, since outside data must not choose another one."""
    if raw is None or raw.oauth2 is None:
        return credential
    configured = {name: value for name, value in raw.oauth2 if name in _CLIENT}
    return _updated(credential, configured) or credential


def _updated(
    credential: AuthCredential | None, changes: dict[str, object]
) -> AuthCredential | None:
    if credential is None or credential.oauth2 is None:
        return credential
    oauth2 = credential.oauth2.model_copy(update=changes)
    return credential.model_copy(update={"oauth2": oauth2})
