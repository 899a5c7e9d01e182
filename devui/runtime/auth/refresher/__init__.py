"""From a credential that has ended to a new one (adk-runtime 8.6)."""

import asyncio
from abc import ABC, abstractmethod

from devui.runtime.auth.auth_credential import AuthCredential, AuthCredentialTypes
from devui.runtime.auth.auth_schemes import AuthScheme, own_scheme, token_endpoint
from devui.runtime.auth.exchanger import CredentialExchangeError
from devui.runtime.auth.tokens import is_expired, new_token

# `BaseCredentialRefresher`: renews credentials that have ended (adk-runtime 8.6).


class CredentialRefresherError(Exception):
    """A credential that has ended was not renewed."""


class BaseCredentialRefresher(ABC):
    """Renews one kind of credential (adk-runtime 8.6)."""

    @abstractmethod
    async def is_refresh_needed(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> bool:
        """Whether the credential has ended, or is about to."""

    @abstractmethod
    async def refresh(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> AuthCredential:
        """A new credential for the given one, which is left as it is.

        Raises CredentialRefresherError if there is none to be had.
        """


# `CredentialRefresherRegistry`: refreshers by the type of credential (adk-runtime 8.6).


class CredentialRefresherRegistry:
    """One refresher for each type of credential that comes to an end."""

    def __init__(self) -> None:
        self._refreshers: dict[AuthCredentialTypes, BaseCredentialRefresher] = {}

    def register(
        self, credential_type: AuthCredentialTypes, refresher_instance: BaseCredentialRefresher
    ) -> None:
        """Use this refresher for the type, in place of one that was used before."""
        self._refreshers[credential_type] = refresher_instance

    def get_refresher(self, credential_type: AuthCredentialTypes) -> BaseCredentialRefresher | None:
        """The refresher; None for credentials that do not end."""
        return self._refreshers.get(credential_type)


# `OAuth2CredentialRefresher`: refresh tokens for new tokens (adk-runtime 8.6).


class OAuth2CredentialRefresher(BaseCredentialRefresher):
    """Asks the token endpoint that the scheme names."""

    async def is_refresh_needed(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> bool:
        """Whether the access token ends within a minute; one that does not tell does not."""
        return auth_credential.oauth2 is not None and is_expired(auth_credential.oauth2)

    async def refresh(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> AuthCredential:
        """The credential with new tokens.

        Raises:
            CredentialRefresherError: it has no refresh token, or the server gives nothing for it.
            ImportError: authlib is not installed.
        """
        oauth2 = auth_credential.oauth2
        if oauth2 is None or not oauth2.refresh_token:
            raise CredentialRefresherError("The credential has expired and has no refresh token.")
        try:
            url, _ = token_endpoint(own_scheme(auth_scheme))
            renewed = await asyncio.to_thread(new_token, url, oauth2)
        except (CredentialExchangeError, ValueError) as error:
            raise CredentialRefresherError(str(error)) from error
        return auth_credential.model_copy(update={"oauth2": renewed})


__all__ = ["BaseCredentialRefresher"]
