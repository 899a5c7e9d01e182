"""From a credential that has ended to a new one (adk-runtime 8.6)."""

from devui.runtime.auth.refresher.base_credential_refresher import BaseCredentialRefresher

__all__ = ["BaseCredentialRefresher"]
