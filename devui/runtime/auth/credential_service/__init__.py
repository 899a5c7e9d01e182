"""Where credentials are kept between calls."""

from devui.runtime.auth.credential_service.base_credential_service import BaseCredentialService

__all__ = ["BaseCredentialService"]
