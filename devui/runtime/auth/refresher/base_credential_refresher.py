"""`BaseCredentialRefresher`: renews credentials that have ended (adk-runtime 8.6)."""

from abc import ABC, abstractmethod

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import AuthScheme


class CredentialRefresherError(Exception):
    """A credential that has ended was not renewed."""


class BaseCredentialRefresher(ABC):
    """Renews one kind of credential (adk-runtime 8.6)."""

    @abstractmethod
    async def is_refresh_needed(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> bool:
        """Whether the credential has ended, or is about to."""

    @abstractmethod
    async def refresh(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> AuthCredential:
        """A new credential for the given one, which is left as it is.

        Raises CredentialRefresherError if there is none to be had.
        """
