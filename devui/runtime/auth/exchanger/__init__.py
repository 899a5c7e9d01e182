"""Exchanges credentials as given for credentials that can be sent (adk-runtime 8.6)."""

import asyncio
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from devui.runtime.auth.auth_credential import (
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
    ServiceAccount,
)
from devui.runtime.auth.auth_schemes import (
    AuthScheme,
    OAuthGrantType,
    grant_of,
    own_scheme,
    token_endpoint,
)
from devui.runtime.auth.logins import LoginRefused, authorization_code
from devui.runtime.auth.tokens import account_token, client_token, is_expired, login_token
from devui.runtime.platform.time import get_time

# `BaseCredentialExchanger`: turns a credential into one that can be sent.
#
# See adk-runtime 8.6.


class CredentialExchangeError(Exception):
    """A login, an OAuth client or an account was refused a token."""


class ExchangeResult(NamedTuple):
    """The credential to use, and whether it is a new one."""

    credential: AuthCredential
    was_exchanged: bool


class BaseCredentialExchanger(ABC):
    """Exchanges one kind of credential (adk-runtime 8.6)."""

    @abstractmethod
    async def exchange(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> ExchangeResult:
        """Return the credential to send in place of this one, which stays unchanged.

        Raises CredentialExchangeError if the server gives none.
        """


# `CredentialExchangerRegistry`: exchangers by the type of credential (adk-runtime 8.6).


class CredentialExchangerRegistry:
    """One exchanger for each type of credential that needs to be exchanged."""

    def __init__(self) -> None:
        self._exchangers: dict[AuthCredentialTypes, BaseCredentialExchanger] = {}

    def register(
        self, credential_type: AuthCredentialTypes, exchanger_instance: BaseCredentialExchanger
    ) -> None:
        """Use this exchanger for the type, instead of an earlier one."""
        self._exchangers[credential_type] = exchanger_instance

    def get_exchanger(self, credential_type: AuthCredentialTypes) -> BaseCredentialExchanger | None:
        """Return the exchanger; None for credentials that are sent as they are."""
        return self._exchangers.get(credential_type)


# Login codes that were exchanged for tokens (RFC 6749, 4.1.2: a code is used once).


_CACHE_SIZE = 256


@dataclass(slots=True)
class _Redemption:
    lock: Lock = field(default_factory=Lock)
    tokens: OAuth2Auth | None = None


class RedeemedCodes:
    """Caches the tokens of logins, so that each login code is redeemed only once.

    Two calls of an answer may need the same login at the same time, and a call that also waits for
    a confirmation needs it again later. The server would refuse a second use of the code, and the
    user would have to log in again. The latest 256 are kept, only in memory. A login is identified
    by its state, which nobody can guess; another login with the same code goes to the server.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._redemptions: OrderedDict[tuple[str, ...], _Redemption] = OrderedDict()

    def tokens(
        self, url: str, login: OAuth2Auth, code: str, redeem: Callable[[], OAuth2Auth]
    ) -> OAuth2Auth:
        """Return the login with its cached tokens, or with new ones if those have expired.

        Args:
            url: The token endpoint.
            login: The login, with the OAuth client and the proof that it was made with.
            code: The code that the server gave for it.
            redeem: Exchanges the code; its exceptions propagate.
        """
        if not login.state:
            return redeem()
        redemption = self._redemption((url, login.client_id or "", login.state, code))
        with redemption.lock:
            if redemption.tokens is None or is_expired(redemption.tokens):
                redemption.tokens = redeem()
            return redemption.tokens.model_copy()

    def _redemption(self, key: tuple[str, ...]) -> _Redemption:
        with self._lock:
            redemption = self._redemptions.setdefault(key, _Redemption())
            self._redemptions.move_to_end(key)
            if len(self._redemptions) > _CACHE_SIZE:
                self._redemptions.popitem(last=False)
            return redemption


# `OAuth2CredentialExchanger`: exchanges logins and OAuth clients for tokens (adk-runtime 8.6).


_redeemed = RedeemedCodes()


class OAuth2CredentialExchanger(BaseCredentialExchanger):
    """Gets tokens from the scheme's token endpoint."""

    async def exchange(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> ExchangeResult:
        """Return the credential with tokens; unchanged if it has one or can't be exchanged.

        Raises:
            CredentialExchangeError: the login is not the one that was asked for, the server
                refuses, or it cannot be reached.
            ImportError: authlib is not installed.
        """
        return await asyncio.to_thread(self.exchange_now, auth_credential, auth_scheme)

    def exchange_now(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> ExchangeResult:
        """Do the same for callers that cannot await; blocks for up to 10 s."""
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


# `ServiceAccountCredentialExchanger`: exchanges a key file for a token (adk-runtime 8.6).


_LEEWAY_SECONDS = 300


class ServiceAccountCredentialExchanger(BaseCredentialExchanger):
    """Signs with the account's key, and caches the tokens until they expire."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, float]] = {}

    async def exchange(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> ExchangeResult:
        """Return a bearer token for the account."""
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


__all__ = ["BaseCredentialExchanger"]
