"""`ServiceAccountCredentialExchanger`: a key file for a token (adk-runtime 8.6)."""

import asyncio

from devui.runtime.auth.auth_credential import (
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    ServiceAccount,
)
from devui.runtime.auth.auth_schemes import AuthScheme
from devui.runtime.auth.exchanger.base_credential_exchanger import (
    BaseCredentialExchanger,
    CredentialExchangeError,
    ExchangeResult,
)
from devui.runtime.auth.tokens import account_token
from devui.runtime.platform.time import get_time

_LEEWAY_SECONDS = 300


class ServiceAccountCredentialExchanger(BaseCredentialExchanger):
    """Signs with the account's key, and keeps the tokens it is given until they end."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, float]] = {}

    async def exchange(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> ExchangeResult:
        """A bearer token for the account.

        Raises:
            CredentialExchangeError: there is no key, no scope or no audience, or the server
                refuses the account.
            ImportError: authlib is not installed.
        """
        account = auth_credential.service_account
        if account is None:
            raise CredentialExchangeError("The credential has no service_account.")
        _check(account)
        key = account.model_dump_json()
        token, end = self._tokens.get(key, ("", 0.0))
        if end - _LEEWAY_SECONDS < get_time():
            token, end = await asyncio.to_thread(account_token, account)
            self._tokens[key] = token, end
        http = HttpAuth(scheme="bearer", credentials=HttpCredentials(token=token))
        return ExchangeResult(AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=http), True)


def _check(account: ServiceAccount) -> None:
    if account.use_id_token and not account.audience:
        raise CredentialExchangeError("A service account with use_id_token needs an audience.")
    if not account.use_id_token and not account.scopes:
        raise CredentialExchangeError("A service account needs scopes for its access token.")
