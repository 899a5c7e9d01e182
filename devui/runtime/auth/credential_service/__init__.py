"""Services that store credentials between calls (adk-runtime 10.3)."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from devui.runtime.auth.auth_credential import AuthCredential, with_secret, without_secret
from devui.runtime.auth.auth_tool import AuthConfig

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context as CallbackContext


# `BaseCredentialService`: stores what users granted (adk-runtime 10.3).


class BaseCredentialService(ABC):
    """Stores credentials by app, user and `auth_config.credential_key`."""

    @abstractmethod
    async def load_credential(
        self, auth_config: AuthConfig, callback_context: CallbackContext
    ) -> AuthCredential | None:
        """Return the stored credential, or None."""

    @abstractmethod
    async def save_credential(
        self, auth_config: AuthConfig, callback_context: CallbackContext
    ) -> None:
        """Store `auth_config.exchanged_auth_credential`."""


# `InMemoryCredentialService`: stores credentials until the process ends.


class InMemoryCredentialService(BaseCredentialService):
    """Stores credentials by app, user and key in memory (adk-runtime 10.3)."""

    def __init__(self) -> None:
        self._credentials: dict[tuple[str, str, str | None], AuthCredential | None] = {}

    async def load_credential(
        self, auth_config: AuthConfig, callback_context: CallbackContext
    ) -> AuthCredential | None:
        """Return the user's credential, or None."""
        return self._credentials.get(_key(auth_config, callback_context))

    async def save_credential(
        self, auth_config: AuthConfig, callback_context: CallbackContext
    ) -> None:
        """Store `exchanged_auth_credential` for the user, for all sessions of the app."""
        key = _key(auth_config, callback_context)
        self._credentials[key] = auth_config.exchanged_auth_credential


def _key(config: AuthConfig, context: CallbackContext) -> tuple[str, str, str | None]:
    return context.session.app_name, context.user_id, config.credential_key


# `SessionStateCredentialService`: stores credentials in the state of a session.


logger = logging.getLogger(__name__)


class SessionStateCredentialService(BaseCredentialService):
    """Stores credentials as plain state under their key (adk-runtime 10.3).

    Anyone who can read the session can read the user's tokens. The client's own secret is not
    stored; it is restored from the agent's configuration.
    """

    async def load_credential(
        self, auth_config: AuthConfig, callback_context: CallbackContext
    ) -> AuthCredential | None:
        """Return the session's credential, or None."""
        value = callback_context.state.get(auth_config.credential_key or "")
        if value is None:
            return None
        if not isinstance(value, dict | AuthCredential):
            logger.warning(
                "The state at the credential key %r is not a credential but a %s; ignoring it.",
                auth_config.credential_key,
                type(value).__name__,
            )
            return None
        return with_secret(AuthCredential.model_validate(value), auth_config.raw_auth_credential)

    async def save_credential(
        self, auth_config: AuthConfig, callback_context: CallbackContext
    ) -> None:
        """Write `exchanged_auth_credential` into the state."""
        credential = without_secret(auth_config.exchanged_auth_credential)
        callback_context.state[auth_config.credential_key or ""] = credential and (
            credential.model_dump(mode="json", by_alias=True, exclude_none=True)
        )


__all__ = [
    "BaseCredentialService",
    "InMemoryCredentialService",
    "SessionStateCredentialService",
]
