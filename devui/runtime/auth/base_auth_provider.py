"""`BaseAuthProvider`: gives credentials of a scheme of one's own (adk-runtime 8.6)."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_tool import AuthConfig

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class BaseAuthProvider(ABC):
    """Gives the credentials of a `CustomAuthScheme`."""

    @property
    def supported_auth_schemes(self) -> tuple[type[Any], ...]:
        """The classes of schemes that it gives credentials for."""
        return ()

    @abstractmethod
    async def get_auth_credential(
        self, auth_config: AuthConfig, context: "Context"
    ) -> AuthCredential | None:
        """The credential; one with `oauth2.auth_uri` and no token sends the user to log in."""
