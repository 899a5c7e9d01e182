"""`OAuth2CredentialExchanger`: logins and clients for tokens (adk-runtime 8.6)."""

import asyncio

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import AuthScheme, OAuthGrantType, own_scheme
from devui.runtime.auth.endpoints import grant_of, token_endpoint
from devui.runtime.auth.exchanger.base_credential_exchanger import (
    BaseCredentialExchanger,
    CredentialExchangeError,
    ExchangeResult,
)
from devui.runtime.auth.logins import LoginRefused, authorization_code
from devui.runtime.auth.redeemed_codes import RedeemedCodes
from devui.runtime.auth.tokens import client_token, login_token

_redeemed = RedeemedCodes()


class OAuth2CredentialExchanger(BaseCredentialExchanger):
    """Asks the token endpoint that the scheme names."""

    async def exchange(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> ExchangeResult:
        """The credential with tokens; as it is if it has one, or nothing to exchange.

        Raises:
            CredentialExchangeError: the login is not the one that was asked for, the server
                refuses, or it cannot be reached.
            ImportError: authlib is not installed.
        """
        return await asyncio.to_thread(self.exchange_now, auth_credential, auth_scheme)

    def exchange_now(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> ExchangeResult:
        """The same for callers that cannot await; it waits for the server for at most 10 s.

        Raises:
            CredentialExchangeError: as `exchange` does.
            ImportError: authlib is not installed.
        """
        auth_scheme = own_scheme(auth_scheme)
        oauth2 = auth_credential.oauth2
        if oauth2 is None or oauth2.access_token or auth_scheme is None:
            return ExchangeResult(auth_credential, False)
        by_client = grant_of(auth_scheme) == OAuthGrantType.CLIENT_CREDENTIALS
        try:
            if by_client:
                url, scopes = token_endpoint(auth_scheme)
                tokens = client_token(url, oauth2, scopes)
            elif oauth2.auth_code or oauth2.auth_response_uri:
                code = authorization_code(oauth2)
                url, _ = token_endpoint(auth_scheme)
                tokens = _redeemed.tokens(url, oauth2, code, lambda: login_token(url, oauth2, code))
            else:
                return ExchangeResult(auth_credential, False)
        except LoginRefused as error:
            raise CredentialExchangeError(str(error)) from error
        return ExchangeResult(auth_credential.model_copy(update={"oauth2": tokens}), True)
