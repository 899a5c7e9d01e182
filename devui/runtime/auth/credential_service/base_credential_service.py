"""`BaseCredentialService`: keeps what users granted (adk-runtime 10.3)."""

from abc import ABC, abstractmethod

from devui.runtime.agents.callback_context import CallbackContext
from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_tool import AuthConfig

__all__ = ["BaseCredentialService", "CallbackContext"]


class BaseCredentialService(ABC):
    """Keeps credentials by app, user and `auth_config.credential_key`."""

    @abstractmethod
    async def load_credential(
        self, auth_config: AuthConfig, callback_context: CallbackContext
    ) -> AuthCredential | None:
        """The kept credential, or None."""

    @abstractmethod
    async def save_credential(
        self, auth_config: AuthConfig, callback_context: CallbackContext
    ) -> None:
        """Keep `auth_config.exchanged_auth_credential`."""
