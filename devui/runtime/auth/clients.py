"""The OAuth 2 client of the agent, in credentials that belong to its user (adk-runtime 8.6).

The client's secret is the agent's: it is taken out of what clients and stores may see, and comes
back from the agent's configuration when a token is needed.
"""

from devui.runtime.auth.auth_credential import AuthCredential

_CLIENT = ("client_id", "client_secret", "token_endpoint_auth_method")


def without_secret(credential: AuthCredential | None) -> AuthCredential | None:
    """A copy of the credential without the client's secret."""
    return _updated(credential, {"client_secret": None})


def with_secret(
    credential: AuthCredential | None, raw: AuthCredential | None
) -> AuthCredential | None:
    """A copy of the credential with the configured secret."""
    if raw is None or raw.oauth2 is None:
        return credential
    return _updated(credential, {"client_secret": raw.oauth2.client_secret})


def with_client(credential: AuthCredential, raw: AuthCredential | None) -> AuthCredential:
    """A copy with the configured client: what came from outside must not choose another one."""
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
