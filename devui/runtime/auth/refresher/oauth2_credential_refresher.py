"""`OAuth2CredentialRefresher`: refresh tokens for new tokens (adk-runtime 8.6)."""

import asyncio

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import AuthScheme, own_scheme
from devui.runtime.auth.endpoints import token_endpoint
from devui.runtime.auth.exchanger.base_credential_exchanger import CredentialExchangeError
from devui.runtime.auth.refresher.base_credential_refresher import (
    BaseCredentialRefresher,
    CredentialRefresherError,
)
from devui.runtime.auth.tokens import is_expired, new_token


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
            raise CredentialRefresherError("The credential has ended and has no refresh token.")
        try:
            url, _ = token_endpoint(own_scheme(auth_scheme))
            renewed = await asyncio.to_thread(new_token, url, oauth2)
        except (CredentialExchangeError, ValueError) as error:
            raise CredentialRefresherError(str(error)) from error
        return auth_credential.model_copy(update={"oauth2": renewed})
