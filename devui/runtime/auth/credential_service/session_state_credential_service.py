"""`SessionStateCredentialService`: credentials in the state of a session."""

import logging
from typing import TYPE_CHECKING

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.clients import with_secret, without_secret
from devui.runtime.auth.credential_service.base_credential_service import BaseCredentialService

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

logger = logging.getLogger(__name__)


class SessionStateCredentialService(BaseCredentialService):
    """Keeps credentials as plain state under their key (adk-runtime 10.3).

    Whoever can read the session can read the user's tokens. The client's own secret is left out
    and comes back from the agent's configuration.
    """

    async def load_credential(
        self, auth_config: AuthConfig, callback_context: "Context"
    ) -> AuthCredential | None:
        """The session's credential, or None."""
        kept = callback_context.state.get(auth_config.credential_key or "")
        if kept is None:
            return None
        if not isinstance(kept, dict | AuthCredential):
            logger.warning(
                "The state under the credential key %r is no credential, but a %s: ignored.",
                auth_config.credential_key,
                type(kept).__name__,
            )
            return None
        return with_secret(AuthCredential.model_validate(kept), auth_config.raw_auth_credential)

    async def save_credential(self, auth_config: AuthConfig, callback_context: "Context") -> None:
        """Write `exchanged_auth_credential` into the state."""
        credential = without_secret(auth_config.exchanged_auth_credential)
        callback_context.state[auth_config.credential_key or ""] = credential and (
            credential.model_dump(mode="json", by_alias=True, exclude_none=True)
        )
