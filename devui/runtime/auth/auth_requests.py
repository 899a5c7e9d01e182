"""What goes to the client when a tool asks for a credential (adk-runtime 8.6)."""

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.endpoints import is_oauth2
from devui.runtime.auth.logins import with_login


def auth_request(config: AuthConfig) -> AuthConfig:
    """The question for the client. It is stored and shown, so it holds none of the agent's secrets.

    For OAuth2 and OpenID Connect it holds the address where the user logs in.

    Raises:
        ValueError: the config does not tell where the user can log in, or as which client.
    """
    exchanged = config.exchanged_auth_credential
    has_address = exchanged and exchanged.oauth2 and exchanged.oauth2.auth_uri
    if is_oauth2(config.auth_scheme) and not has_address:
        exchanged = login_credential(config)
    return config.model_copy(
        update={
            "raw_auth_credential": _redacted(config.raw_auth_credential),
            "exchanged_auth_credential": _redacted(exchanged),
        }
    )


def login_credential(config: AuthConfig) -> AuthCredential:
    """The configured client with an address to log in at.

    Raises:
        ValueError: see `auth_request`.
    """
    raw = config.raw_auth_credential
    if raw is None or raw.oauth2 is None:
        raise ValueError(
            "An AuthConfig for OAuth2 or OpenID Connect needs a raw_auth_credential with oauth2."
        )
    if raw.oauth2.auth_uri:
        return raw.model_copy(deep=True)
    return raw.model_copy(update={"oauth2": with_login(config.auth_scheme, raw.oauth2)})


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
    if copied.service_account is not None:
        copied.service_account.service_account_credential = None
    return copied
