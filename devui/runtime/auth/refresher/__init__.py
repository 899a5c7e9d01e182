"""Renews expired credentials (adk-runtime 8.6)."""

import asyncio
from abc import ABC, abstractmethod

from devui.runtime.auth.auth_credential import AuthCredential, AuthCredentialTypes
from devui.runtime.auth.auth_schemes import AuthScheme, own_scheme, token_endpoint
from devui.runtime.auth.exchanger import CredentialExchangeError
from devui.runtime.auth.tokens import is_expired, new_token

# `BaseCredentialRefresher`: renews expired credentials (adk-runtime 8.6).


class CredentialRefresherError(Exception):
    """An expired credential could not be renewed."""


class BaseCredentialRefresher(ABC):
    """Renews one kind of credential (adk-runtime 8.6)."""

    @abstractmethod
    async def is_refresh_needed(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> bool:
        """Return whether the credential has expired or is about to."""

    @abstractmethod
    async def refresh(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> AuthCredential:
        """Return a new credential in exchange for this one, which stays unchanged.

        Raises CredentialRefresherError if the server gives none.
        """


# `CredentialRefresherRegistry`: refreshers by the type of credential (adk-runtime 8.6).


class CredentialRefresherRegistry:
    """One refresher for each type of credential that can expire."""

    def __init__(self) -> None:
        self._refreshers: dict[AuthCredentialTypes, BaseCredentialRefresher] = {}

    def register(
        self, credential_type: AuthCredentialTypes, refresher_instance: BaseCredentialRefresher
    ) -> None:
        """Use this refresher for the type, instead of an earlier one."""
        self._refreshers[credential_type] = refresher_instance

    def get_refresher(self, credential_type: AuthCredentialTypes) -> BaseCredentialRefresher | None:
        """Return the refresher; None for credentials that do not expire."""
        return self._refreshers.get(credential_type)


# `OAuth2CredentialRefresher`: exchanges refresh tokens for new tokens (adk-runtime 8.6).


class OAuth2CredentialRefresher(BaseCredentialRefresher):
    """Gets new tokens from the scheme's token endpoint."""

    async def is_refresh_needed(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> bool:
        """Return whether the access token expires within a minute; False if its end is unknown."""
        return auth_credential.oauth2 is not None and is_expired(auth_credential.oauth2)

    async def refresh(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> AuthCredential:
        """Return the credential with new tokens."""
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
