"""`CredentialManager`: obtains credentials that can be sent (adk-runtime 8.6)."""

import asyncio
import logging
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from devui.runtime.auth.auth_credential import (
    AuthCredential,
    AuthCredentialTypes,
    is_sendable,
    with_client,
    without_secret,
)
from devui.runtime.auth.auth_handler import AuthHandler
from devui.runtime.auth.auth_schemes import CustomAuthScheme, OAuthGrantType, grant_of, is_oauth2
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.base_auth_provider import AuthProviderRegistry, BaseAuthProvider
from devui.runtime.auth.exchanger import (
    BaseCredentialExchanger,
    CredentialExchangeError,
    CredentialExchangerRegistry,
    OAuth2CredentialExchanger,
    ServiceAccountCredentialExchanger,
)
from devui.runtime.auth.oauth2_discovery import OAuth2DiscoveryManager, complete
from devui.runtime.auth.refresher import (
    BaseCredentialRefresher,
    CredentialRefresherError,
    CredentialRefresherRegistry,
    OAuth2CredentialRefresher,
)

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

logger = logging.getLogger(__name__)

_Locks = WeakValueDictionary[tuple[str, str, str | None], asyncio.Lock]
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, _Locks] = WeakKeyDictionary()
_accounts = ServiceAccountCredentialExchanger()
"""Shared by all managers, since it caches the accounts' tokens."""


class CredentialManager:
    """Obtains the credential of an AuthConfig: from the config, a store, the user or a server.

    Concurrent calls wait for each other, so that the user is asked only once and a refresh token
    is used only once.
    """

    _providers: ClassVar[AuthProviderRegistry] = AuthProviderRegistry()

    def __init__(self, auth_config: AuthConfig) -> None:
        self._auth_config = auth_config.model_copy()
        self._exchangers = CredentialExchangerRegistry()
        self._refreshers = CredentialRefresherRegistry()
        for kind in (AuthCredentialTypes.OAUTH2, AuthCredentialTypes.OPEN_ID_CONNECT):
            self._exchangers.register(kind, OAuth2CredentialExchanger())
            self._refreshers.register(kind, OAuth2CredentialRefresher())
        self._exchangers.register(AuthCredentialTypes.SERVICE_ACCOUNT, _accounts)

    @classmethod
    def register_auth_provider(cls, provider: BaseAuthProvider) -> None:
        """Use the provider for its schemes; the first one registered for a scheme stays."""
        for scheme_type in provider.supported_auth_schemes:
            current = cls._providers.get_provider(scheme_type)
            if current is None:
                cls._providers.register(scheme_type, provider)
            elif current is not provider:
                logger.warning(
                    "%s already has an auth provider; ignoring the new one.", scheme_type.__name__
                )

    def register_credential_exchanger(
        self, credential_type: AuthCredentialTypes, exchanger_instance: BaseCredentialExchanger
    ) -> None:
        """Use this exchanger for credentials of a type."""
        self._exchangers.register(credential_type, exchanger_instance)

    def register_credential_refresher(
        self, credential_type: AuthCredentialTypes, refresher_instance: BaseCredentialRefresher
    ) -> None:
        """Use this refresher for credentials of a type."""
        self._refreshers.register(credential_type, refresher_instance)

    async def request_credential(self, context: "Context") -> None:
        """Ask the user for the credential. Raises ValueError outside of tool calls."""
        context.request_credential(self._auth_config)

    @property
    def auth_config(self) -> AuthConfig:
        """The config, with the endpoints that were looked up."""
        return self._auth_config

    async def get_auth_credential(self, context: "Context") -> AuthCredential | None:
        """Return the credential to send, or None if the user has to be asked.

        Raises:
            ValueError: the config is incomplete.
            CredentialExchangeError: the agent's own client or account is refused.
            ImportError: a token is needed and authlib is not installed.
        """
        if isinstance(self._auth_config.auth_scheme, CustomAuthScheme):
            return await self._from_provider(self._auth_config.auth_scheme, context)
        async with self._lock(context):
            raw = self._auth_config.raw_auth_credential
            if raw is not None and _is_plain(raw):
                return raw.model_copy(deep=True)
            await self._complete()
            return (
                await self._ready_credential(context)
                or await self._user_credential(context)
                or await self._own(context)
            )

    async def replace(
        self, context: "Context", credential: AuthCredential
    ) -> AuthCredential | None:
        """Return a replacement for a credential that a service refused, or None.

        The replacement is one that another call has obtained meanwhile, a renewed one, or the
        client's next token. The refused one is forgotten, so that the user can be asked, but not
        while it is new (`is_new`).

        Raises:
            CredentialExchangeError: the agent's own client is refused.
        """
        async with self._lock(context):
            current = await self._ready_credential(context)
            if current is not None and _token(current) != _token(credential):
                return current
            if credential.oauth2 and credential.oauth2.refresh_token:
                expired_login = credential.oauth2.model_copy(update={"expires_at": 0})
                renewed = await self._renewed(
                    context, credential.model_copy(update={"oauth2": expired_login})
                )
                if renewed is not None:
                    return renewed
            if not self.is_new(context):
                await self._keep(context, None)
                AuthHandler(self._auth_config).keep(context.state, None)
            return await self._own(context) if self._is_clients else None

    def is_new(self, context: "Context") -> bool:
        """Return whether the user gave it in this very run, so that asking again is pointless."""
        return AuthHandler(self._auth_config).is_given(context.state)

    async def _from_provider(
        self, scheme: CustomAuthScheme, context: "Context"
    ) -> AuthCredential | None:
        scheme = self._auth_config.auth_scheme = self._providers.specialize(scheme)
        provider = self._providers.get_provider(scheme)
        if provider is None:
            raise ValueError(
                f"No auth provider is registered for {type(scheme).__name__}: register one with"
                " CredentialManager.register_auth_provider(YourProvider())."
            )
        credential = await provider.get_auth_credential(self._auth_config, context)
        if credential is None:
            raise ValueError(f"{type(provider).__name__} returned no credential.")
        oauth2 = credential.oauth2
        if oauth2 and oauth2.auth_uri and not oauth2.access_token:
            self._auth_config.exchanged_auth_credential = credential
            return None
        return credential

    async def _complete(self) -> None:
        config = self._auth_config
        raw = config.raw_auth_credential
        if is_oauth2(config.auth_scheme) and (raw is None or not _is_told(raw)):
            raise ValueError(
                "An AuthConfig for OAuth2 or OpenID Connect needs a raw_auth_credential with"
                " oauth2, or with a service_account."
            )
        config.auth_scheme = await complete(config.auth_scheme, OAuth2DiscoveryManager())

    async def _ready_credential(self, context: "Context") -> AuthCredential | None:
        """Return a credential obtained earlier, in this invocation or in another one."""
        service = context.get_invocation_context().credential_service
        credential = context.get_credential(self._key)
        if credential is None and service is not None:
            credential = await service.load_credential(self._auth_config, context)
        if credential is None or not is_sendable(credential):
            return None
        return await self._renewed(context, credential)

    async def _user_credential(self, context: "Context") -> AuthCredential | None:
        """Return the credential that the user answered with."""
        handler = AuthHandler(self._auth_config)
        credential = handler.answer_in(context.state)
        if credential is None:
            return None
        try:
            credential = await self._exchanged(credential)
        except CredentialExchangeError as error:
            handler.drop(context.state, error)
            return None
        if not is_sendable(credential):
            return None
        handler.keep(context.state, credential)
        await self._keep(context, credential)
        return await self._renewed(context, credential)

    async def _own(self, context: "Context") -> AuthCredential | None:
        """Return the credential that the agent can get without its user."""
        raw = self._auth_config.raw_auth_credential
        if raw is None:
            return None
        is_account = raw.auth_type == AuthCredentialTypes.SERVICE_ACCOUNT
        if is_account or self._is_clients:
            credential = await self._exchanged(raw)
            if not is_account:
                await self._keep(context, credential)
            return credential
        return await self._renewed(context, raw) if is_sendable(raw) else None

    async def _exchanged(self, credential: AuthCredential) -> AuthCredential:
        exchanger = self._exchangers.get_exchanger(credential.auth_type)
        if exchanger is None:
            return credential
        return (await exchanger.exchange(credential, self._auth_config.auth_scheme)).credential

    async def _renewed(
        self, context: "Context", credential: AuthCredential
    ) -> AuthCredential | None:
        """Return the credential, renewed if it has expired; None if it can't be renewed."""
        credential = with_client(credential, self._auth_config.raw_auth_credential)
        refresher = self._refreshers.get_refresher(credential.auth_type)
        scheme = self._auth_config.auth_scheme
        if refresher is None or not await refresher.is_refresh_needed(credential, scheme):
            return credential
        try:
            renewed = await refresher.refresh(credential, scheme)
        except CredentialRefresherError as error:
            logger.warning("The credential %r cannot be renewed: %s", self._key, error)
            return None
        await self._keep(context, renewed)
        return renewed

    async def _keep(self, context: "Context", credential: AuthCredential | None) -> None:
        invocation = context.get_invocation_context()
        storable = without_secret(credential)
        if storable is None:
            invocation.credential_by_key.pop(self._key, None)
        else:
            invocation.credential_by_key[self._key] = storable
        if invocation.credential_service is not None:
            config = self._auth_config.model_copy(update={"exchanged_auth_credential": storable})
            await invocation.credential_service.save_credential(config, context)

    @property
    def _is_clients(self) -> bool:
        """Whether the agent's own client requests the token."""
        return grant_of(self._auth_config.auth_scheme) == OAuthGrantType.CLIENT_CREDENTIALS

    @property
    def _key(self) -> str:
        return self._auth_config.credential_key or ""

    def _lock(self, context: "Context") -> asyncio.Lock:
        here = _locks.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
        key = (context.session.app_name, context.user_id, self._auth_config.credential_key)
        return here.setdefault(key, asyncio.Lock())


def _is_plain(raw: AuthCredential) -> bool:
    """Return whether it is sent as is: a key or password of the agent's own."""
    is_simple = raw.auth_type in {AuthCredentialTypes.API_KEY, AuthCredentialTypes.HTTP}
    return is_simple and is_sendable(raw)


def _is_told(raw: AuthCredential) -> bool:
    return raw.oauth2 is not None or raw.service_account is not None


def _token(credential: AuthCredential) -> str | None:
    return credential.oauth2.access_token if credential.oauth2 else None
