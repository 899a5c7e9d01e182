"""Where credentials are kept between calls."""

from devui.runtime.auth.credential_service.base_credential_service import BaseCredentialService
from devui.runtime.auth.credential_service.in_memory_credential_service import (
    InMemoryCredentialService,
)
from devui.runtime.auth.credential_service.session_state_credential_service import (
    SessionStateCredentialService,
)

__all__ = [
    "BaseCredentialService",
    "InMemoryCredentialService",
    "SessionStateCredentialService",
]
