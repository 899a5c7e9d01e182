"""`InMemoryCredentialService`: credentials for as long as the process lives."""

from typing import TYPE_CHECKING

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_service.base_credential_service import BaseCredentialService

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class InMemoryCredentialService(BaseCredentialService):
    """Keeps credentials by app, user and key in memory (adk-runtime 10.3)."""

    def __init__(self) -> None:
        self._credentials: dict[tuple[str, str, str | None], AuthCredential | None] = {}

    async def load_credential(
        self, auth_config: AuthConfig, callback_context: "Context"
    ) -> AuthCredential | None:
        """The user's credential, or None."""
        return self._credentials.get(_key(auth_config, callback_context))

    async def save_credential(self, auth_config: AuthConfig, callback_context: "Context") -> None:
        """Keep `exchanged_auth_credential` for the user, for all sessions of the app."""
        key = _key(auth_config, callback_context)
        self._credentials[key] = auth_config.exchanged_auth_credential


def _key(config: AuthConfig, context: "Context") -> tuple[str, str, str | None]:
    return context.session.app_name, context.user_id, config.credential_key
