"""`AuthHandler`: a request for a credential, and its answer (adk-runtime 8.6)."""

import logging
from typing import Any

from devui.runtime.auth.auth_credential import (
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
    with_client,
    without_secret,
)
from devui.runtime.auth.auth_schemes import HTTPBase, SecuritySchemeType, is_oauth2
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.exchanger import CredentialExchangeError, OAuth2CredentialExchanger
from devui.runtime.auth.logins import authorization_code, check_state, with_login
from devui.runtime.sessions.state import StateLike

# The answers of clients that were asked for a credential (adk-runtime 8.6).


_OF_THE_REQUEST = (
    "auth_uri",
    "client_id",
    "code_challenge_method",
    "code_verifier",
    "state",
    "token_endpoint_auth_method",
)
"""OAuth2 fields that an answer cannot change."""
_OF_THE_LOGIN = frozenset({"auth_uri", "state"})
"""Fields that don't matter if the answer has a token: the client hasn't used the address."""


def credential_of(response: dict[str, Any], request: AuthConfig) -> AuthCredential | None:
    """Return the credential in a client's answer: an AuthConfig with it, or the credential alone.

    Only the credential is taken from an AuthConfig; scheme and key are those of the request. A
    login keeps the OAuth client, the state and the proof of the request.

    Raises:
        LoginRefused: the answer belongs to another login, or the server refused the login.
    """
    config = response.get("authConfig", response)
    if "authType" in config or "auth_type" in config:
        credential = AuthCredential.model_validate(config)
    else:
        scheme = request.auth_scheme.model_dump(by_alias=True, mode="json")
        own = {"authScheme": scheme, "credentialKey": request.credential_key}
        answer = AuthConfig.model_validate({**config, **own}).exchanged_auth_credential
        if answer is None:
            return None
        credential = answer
    if credential.oauth2 is None:
        return credential
    oauth2 = _pinned(credential.oauth2, request.exchanged_auth_credential)
    if not oauth2.access_token and (oauth2.auth_response_uri or oauth2.auth_code):
        authorization_code(oauth2)
    return credential.model_copy(update={"oauth2": oauth2})


def _pinned(answer: OAuth2Auth, credential: AuthCredential | None) -> OAuth2Auth:
    request = credential.oauth2 if credential else None
    if request is None:
        return answer
    check_state(request, answer)
    over = _OF_THE_LOGIN if answer.access_token else ()
    pinned = {n: value for n, value in request if n in _OF_THE_REQUEST and n not in over}
    redirect_uri = answer.redirect_uri or request.redirect_uri
    return answer.model_copy(update={**pinned, "redirect_uri": redirect_uri})


# The request that is sent to the client when a tool needs a credential (adk-runtime 8.6).


def auth_request(config: AuthConfig) -> AuthConfig:
    """Return the request for the client, which has none of the agent's secrets.

    Requests are stored and shown. For OAuth2 and OpenID Connect, they contain the address where the
    user logs in.

    Raises:
        ValueError: the config doesn't say where the user can log in, or as which OAuth client.
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
    """Return the configured OAuth client with an address to log in at."""
    raw = config.raw_auth_credential
    if raw is None or raw.oauth2 is None:
        raise ValueError(
            "An AuthConfig for OAuth2 or OpenID Connect needs a raw_auth_credential with oauth2."
        )
    if raw.oauth2.auth_uri:
        return raw.model_copy(deep=True)
    return raw.model_copy(update={"oauth2": with_login(config.auth_scheme, raw.oauth2)})


def _redacted(credential: AuthCredential | None) -> AuthCredential | None:
    """Return the credential without the agent's own secrets."""
    if credential is None:
        return None
    safe_copy = credential.model_copy(deep=True)
    safe_copy.api_key = None
    if safe_copy.oauth2 is not None:
        safe_copy.oauth2.client_secret = None
    if safe_copy.http is not None:
        safe_copy.http.credentials.password = None
        safe_copy.http.credentials.token = None
        safe_copy.http.additional_headers = None
    if safe_copy.service_account and safe_copy.service_account.service_account_credential:
        safe_copy.service_account = None  # it would be invalid without its key
    return safe_copy


logger = logging.getLogger(__name__)


class AuthHandler:
    """Requests the credential of an AuthConfig, and finds the answer in the state."""

    def __init__(self, auth_config: AuthConfig) -> None:
        self.auth_config = auth_config

    def generate_auth_request(self) -> AuthConfig:
        """Return the request for the client, without the agent's secrets.

        Raises:
            ValueError: the config doesn't say where the user can log in, or as which OAuth client.
        """
        return auth_request(self.auth_config)

    def generate_auth_uri(self) -> AuthCredential:
        """Return the OAuth client with a login address. Raises ValueError as above."""
        return login_credential(self.auth_config)

    def has_auth_response(self, state: StateLike) -> bool:
        """Return whether there is an answer in the state."""
        return self.answer_in(state) is not None

    def is_known(self, state: StateLike) -> bool:
        """Return whether this run knows the credential, or knows that there is none."""
        missing = object()
        return state.get(self._key, missing) is not missing

    def is_given(self, state: StateLike) -> bool:
        """Return whether the user has given the credential in this run."""
        return bool(state.get(self._key))

    def answer_in(self, state: StateLike) -> AuthCredential | None:
        """Return the answer in the state, with the configured OAuth client; None without one."""
        for key in (self._key, self.auth_config.credential_key or ""):
            value = state.get(key)
            if isinstance(value, str) and value:
                return _of_text(value, self.auth_config)
            if isinstance(value, dict | AuthCredential):
                credential = AuthCredential.model_validate(value)
                return with_client(credential, self.auth_config.raw_auth_credential)
        return None

    def get_auth_response(self, state: StateLike) -> AuthCredential | None:
        """Return the credential that the user gave, or None.

        A login is exchanged for its token, which blocks until the server answers. A login that the
        server refuses is dropped, so that the user is asked again.
        """
        credential = self.answer_in(state)
        if credential is None:
            return None
        scheme = self.auth_config.auth_scheme
        try:
            exchanged = OAuth2CredentialExchanger().exchange_now(credential, scheme)
        except CredentialExchangeError as error:
            self.drop(state, error)
            return None
        if exchanged.was_exchanged:
            self.keep(state, exchanged.credential)
        return exchanged.credential

    async def exchange_auth_token(self) -> AuthCredential | None:
        """Return `exchanged_auth_credential` with a token. Raises CredentialExchangeError."""
        credential = self.auth_config.exchanged_auth_credential
        if credential is None:
            return None
        exchanger = OAuth2CredentialExchanger()
        return (await exchanger.exchange(credential, self.auth_config.auth_scheme)).credential

    async def parse_and_store_auth_response(self, state: StateLike) -> None:
        """Store `exchanged_auth_credential` where this invocation's tools look for it."""
        self.keep(state, self.auth_config.exchanged_auth_credential)

    def keep(self, state: StateLike, credential: AuthCredential | None) -> None:
        """Store the credential for the tools of this invocation."""
        state[self._key] = without_secret(credential)

    def drop(self, state: StateLike, error: Exception) -> None:
        """Forget a login that was refused."""
        logger.warning("The login for %r was rejected: %s", self.auth_config.credential_key, error)
        state[self._key] = None

    @property
    def _key(self) -> str:
        return f"temp:{self.auth_config.credential_key}"


def _of_text(text: str, config: AuthConfig) -> AuthCredential:
    """Return the credential for a bare key or token, which user code may put into the state."""
    scheme = config.auth_scheme
    if scheme.type_ == SecuritySchemeType.apiKey:
        return AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key=text)
    if isinstance(scheme, HTTPBase):
        http = HttpAuth(scheme=scheme.scheme, credentials=HttpCredentials(token=text))
        return AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=http)
    return AuthCredential(
        auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(access_token=text)
    )
