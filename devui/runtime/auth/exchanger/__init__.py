"""From what was given to what can be sent (adk-runtime 8.6)."""

from devui.runtime.auth.exchanger.base_credential_exchanger import BaseCredentialExchanger

__all__ = ["BaseCredentialExchanger"]
