"""`AuthHandler`: one request for a credential and its answer (adk-runtime 8.6)."""

import logging

from devui.runtime.auth.auth_credential import (
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
)
from devui.runtime.auth.auth_requests import auth_request, login_credential
from devui.runtime.auth.auth_schemes import HTTPBase, SecuritySchemeType
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.clients import with_client, without_secret
from devui.runtime.auth.exchanger.base_credential_exchanger import CredentialExchangeError
from devui.runtime.auth.exchanger.oauth2_credential_exchanger import OAuth2CredentialExchanger
from devui.runtime.sessions.state import StateLike

logger = logging.getLogger(__name__)


class AuthHandler:
    """Asks for the credential of one AuthConfig, and finds the answer in the state."""

    def __init__(self, auth_config: AuthConfig) -> None:
        self.auth_config = auth_config

    def generate_auth_request(self) -> AuthConfig:
        """What is sent to the client, without the agent's secrets.

        Raises:
            ValueError: the config does not tell where the user can log in, or as which client.
        """
        return auth_request(self.auth_config)

    def generate_auth_uri(self) -> AuthCredential:
        """The configured client with an address to log in at; raises ValueError as above."""
        return login_credential(self.auth_config)

    def has_auth_response(self, state: StateLike) -> bool:
        """Whether there is an answer in the state."""
        return self.stored(state) is not None

    def is_known(self, state: StateLike) -> bool:
        """Whether this run has found out about the credential, also that there is none."""
        missing = object()
        return state.get(self._key, missing) is not missing

    def is_given(self, state: StateLike) -> bool:
        """Whether this run has the credential from the user."""
        return bool(state.get(self._key))

    def stored(self, state: StateLike) -> AuthCredential | None:
        """The answer in the state as it is, with the configured client; None if there is none."""
        for key in (self._key, self.auth_config.credential_key or ""):
            value = state.get(key)
            if isinstance(value, str) and value:
                return _of_text(value, self.auth_config)
            if isinstance(value, dict | AuthCredential):
                credential = AuthCredential.model_validate(value)
                return with_client(credential, self.auth_config.raw_auth_credential)
        return None

    def get_auth_response(self, state: StateLike) -> AuthCredential | None:
        """The credential that the user gave, or None.

        A login is exchanged for its token here and now, which waits for the server; one that the
        server refuses is dropped, so that the user is asked again.
        """
        credential = self.stored(state)
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
        """`exchanged_auth_credential` with its token; raises CredentialExchangeError."""
        credential = self.auth_config.exchanged_auth_credential
        if credential is None:
            return None
        exchanger = OAuth2CredentialExchanger()
        return (await exchanger.exchange(credential, self.auth_config.auth_scheme)).credential

    async def parse_and_store_auth_response(self, state: StateLike) -> None:
        """Put `exchanged_auth_credential` where tools look for it in this invocation."""
        self.keep(state, self.auth_config.exchanged_auth_credential)

    def keep(self, state: StateLike, credential: AuthCredential | None) -> None:
        """Let the tools of this invocation find the credential."""
        state[self._key] = without_secret(credential)

    def drop(self, state: StateLike, error: Exception) -> None:
        """Forget a login that was refused."""
        logger.warning("The login for %r is dropped: %s", self.auth_config.credential_key, error)
        state[self._key] = None

    @property
    def _key(self) -> str:
        return f"temp:{self.auth_config.credential_key}"


def _of_text(text: str, config: AuthConfig) -> AuthCredential:
    """A bare key or token, as code of users may put it into the state."""
    scheme = config.auth_scheme
    if scheme.type_ == SecuritySchemeType.apiKey:
        return AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key=text)
    if isinstance(scheme, HTTPBase):
        http = HttpAuth(scheme=scheme.scheme, credentials=HttpCredentials(token=text))
        return AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=http)
    return AuthCredential(
        auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(access_token=text)
    )
