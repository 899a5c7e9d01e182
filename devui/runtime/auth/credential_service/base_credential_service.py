"""`BaseCredentialService`: keeps what users granted (adk-runtime 10.3)."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_tool import AuthConfig

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class BaseCredentialService(ABC):
    """Keeps credentials by app, user and `auth_config.credential_key`."""

    @abstractmethod
    async def load_credential(
        self, auth_config: AuthConfig, callback_context: "Context"
    ) -> AuthCredential | None:
        """The kept credential, or None."""

    @abstractmethod
    async def save_credential(self, auth_config: AuthConfig, callback_context: "Context") -> None:
        """Keep `auth_config.exchanged_auth_credential`."""
