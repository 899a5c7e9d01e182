"""`CredentialExchangerRegistry`: exchangers by the type of credential (adk-runtime 8.6)."""

from devui.runtime.auth.auth_credential import AuthCredentialTypes
from devui.runtime.auth.exchanger.base_credential_exchanger import BaseCredentialExchanger


class CredentialExchangerRegistry:
    """One exchanger for each type of credential that needs to be exchanged."""

    def __init__(self) -> None:
        self._exchangers: dict[AuthCredentialTypes, BaseCredentialExchanger] = {}

    def register(
        self, credential_type: AuthCredentialTypes, exchanger_instance: BaseCredentialExchanger
    ) -> None:
        """Use this exchanger for the type, in place of one that was used before."""
        self._exchangers[credential_type] = exchanger_instance

    def get_exchanger(self, credential_type: AuthCredentialTypes) -> BaseCredentialExchanger | None:
        """The exchanger; None for credentials that are used as they are."""
        return self._exchangers.get(credential_type)
