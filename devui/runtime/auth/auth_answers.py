"""What a client answers when it was asked for a credential (adk-runtime 8.6)."""

from typing import Any

from devui.runtime.auth.auth_credential import AuthCredential, OAuth2Auth
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.logins import authorization_code, check_state

_OF_THE_REQUEST = (
    "auth_uri",
    "client_id",
    "code_challenge_method",
    "code_verifier",
    "state",
    "token_endpoint_auth_method",
)
"""OAuth2 fields that an answer cannot change."""


def credential_of(response: dict[str, Any], asked: AuthConfig) -> AuthCredential | None:
    """The credential in a client's answer: an AuthConfig with it, or the credential alone.

    Of an AuthConfig only the credential is taken: scheme and key are those that were asked for.
    A login keeps the client, the state and the proof of the request.

    Raises:
        LoginRefused: the answer belongs to another login, or the server refused the login.
    """
    config = response.get("authConfig", response)
    if "authType" in config or "auth_type" in config:
        credential = AuthCredential.model_validate(config)
    else:
        scheme = asked.auth_scheme.model_dump(by_alias=True, mode="json")
        own = {"authScheme": scheme, "credentialKey": asked.credential_key}
        answered = AuthConfig.model_validate({**config, **own}).exchanged_auth_credential
        if answered is None:
            return None
        credential = answered
    if credential.oauth2 is None:
        return credential
    oauth2 = _pinned(credential.oauth2, asked.exchanged_auth_credential)
    if not oauth2.access_token and (oauth2.auth_response_uri or oauth2.auth_code):
        authorization_code(oauth2)
    return credential.model_copy(update={"oauth2": oauth2})


def _pinned(answered: OAuth2Auth, asked: AuthCredential | None) -> OAuth2Auth:
    request = asked.oauth2 if asked else None
    if request is None:
        return answered
    check_state(request, answered)
    pinned = {name: value for name, value in request if name in _OF_THE_REQUEST}
    redirect_uri = answered.redirect_uri or request.redirect_uri
    return answered.model_copy(update={**pinned, "redirect_uri": redirect_uri})
