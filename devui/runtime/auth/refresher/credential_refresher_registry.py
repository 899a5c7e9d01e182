"""`CredentialRefresherRegistry`: refreshers by the type of credential (adk-runtime 8.6)."""

from devui.runtime.auth.auth_credential import AuthCredentialTypes
from devui.runtime.auth.refresher.base_credential_refresher import BaseCredentialRefresher


class CredentialRefresherRegistry:
    """One refresher for each type of credential that comes to an end."""

    def __init__(self) -> None:
        self._refreshers: dict[AuthCredentialTypes, BaseCredentialRefresher] = {}

    def register(
        self, credential_type: AuthCredentialTypes, refresher_instance: BaseCredentialRefresher
    ) -> None:
        """Use this refresher for the type, in place of one that was used before."""
        self._refreshers[credential_type] = refresher_instance

    def get_refresher(self, credential_type: AuthCredentialTypes) -> BaseCredentialRefresher | None:
        """The refresher; None for credentials that do not end."""
        return self._refreshers.get(credential_type)
