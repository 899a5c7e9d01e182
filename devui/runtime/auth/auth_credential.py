"""What proves who calls: keys, tokens, accounts (adk-runtime 8.6). Secrets stay out of reprs."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

_HIDDEN = "<hidden>"


def _secret(**kwargs: Any) -> FieldInfo:
    """A field that no repr, log line or error message shows."""
    field = Field(repr=False, **kwargs)
    assert isinstance(field, FieldInfo)  # noqa: S101  Field() is typed Any
    return field


Secret = Annotated[str | None, _secret()]


class AuthModel(BaseModel):
    """Base of the auth models: camelCase JSON, unknown keys kept but never shown."""

    model_config = ConfigDict(
        extra="allow",
        alias_generator=to_camel,
        populate_by_name=True,
        hide_input_in_errors=True,
        defer_build=True,
    )

    def __repr_args__(self) -> Any:
        """Hide the values of unknown keys: a token may arrive under any name."""
        extra = self.__pydantic_extra__ or {}
        for key, value in super().__repr_args__():
            yield key, _HIDDEN if key in extra else value


class HttpCredentials(AuthModel):
    """User and password, or a token."""

    username: str | None = None
    password: Secret = None
    token: Secret = None


class HttpAuth(AuthModel):
    """Credentials for an HTTP scheme such as `basic` or `bearer`."""

    scheme: str
    credentials: HttpCredentials
    additional_headers: Annotated[dict[str, str] | None, _secret()] = None


class OAuth2Auth(AuthModel):
    """Everything that comes up in an OAuth2 or OpenID Connect exchange."""

    client_id: str | None = None
    client_secret: Secret = None
    auth_uri: str | None = None
    nonce: str | None = None
    state: str | None = None
    redirect_uri: str | None = None
    auth_response_uri: Secret = None
    auth_code: Secret = None
    access_token: Secret = None
    refresh_token: Secret = None
    id_token: Secret = None
    expires_at: int | None = None
    """Unix seconds."""
    expires_in: int | None = None
    """Seconds."""
    audience: str | None = None
    prompt: str | None = None
    code_verifier: Secret = None
    code_challenge_method: str | None = None
    token_endpoint_auth_method: (
        Literal["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"]
        | None
    ) = "client_secret_basic"  # noqa: S105  the name of a method


class ServiceAccountCredential(AuthModel):
    """The key file of a Google service account."""

    type_: str = Field("", alias="type")
    project_id: str
    private_key_id: Annotated[str, _secret()]
    private_key: Annotated[str, _secret()]
    client_email: str
    client_id: str
    auth_uri: str
    token_uri: str
    auth_provider_x509_cert_url: str
    client_x509_cert_url: str
    universe_domain: str


class ServiceAccount(AuthModel):
    """A service account: its key, or the environment's default one."""

    service_account_credential: ServiceAccountCredential | None = None
    scopes: list[str] | None = None
    use_default_credential: bool | None = False
    use_id_token: bool | None = False
    audience: str | None = None


class AuthCredentialTypes(StrEnum):
    """The kinds of credentials, named as in OpenAPI."""

    API_KEY = "apiKey"
    HTTP = "http"
    OAUTH2 = "oauth2"
    OPEN_ID_CONNECT = "openIdConnect"
    SERVICE_ACCOUNT = "serviceAccount"


class AuthCredential(AuthModel):
    """One credential; `auth_type` tells which of the fields holds it."""

    auth_type: AuthCredentialTypes
    resource_ref: str | None = None
    api_key: Secret = None
    http: HttpAuth | None = None
    service_account: ServiceAccount | None = None
    oauth2: OAuth2Auth | None = None
