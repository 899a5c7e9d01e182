"""`AuthConfig`: a request for a credential, and its answer (adk-runtime 8.6)."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, SerializeAsAny

from devui.runtime.auth.auth_credential import AuthCredential, AuthModel
from devui.runtime.auth.auth_schemes import AuthScheme

_OF_ONE_LOGIN = {
    "auth_uri",
    "state",
    "auth_response_uri",
    "auth_code",
    "access_token",
    "refresh_token",
    "expires_at",
    "expires_in",
    "redirect_uri",
}
"""OAuth2 fields that differ between logins and so aren't part of the key."""


class AuthConfig(AuthModel):
    """The auth scheme, the credential to start from, and the resulting one."""

    auth_scheme: SerializeAsAny[AuthScheme]
    """How the service authenticates requests."""
    raw_auth_credential: AuthCredential | None = None
    """What the app has: a key, or the OAuth client of a login."""
    exchanged_auth_credential: AuthCredential | None = None
    """What can be sent, or what the user needs in order to answer."""
    credential_key: str | None = None
    """The name under which the credential is stored; derived from scheme and credential by
    default."""

    def model_post_init(self, _context: Any) -> None:
        """Derive the credential key."""
        if not self.credential_key:
            self.credential_key = self._given_key() or self._derived_key()

    def get_credential_key(self) -> str | None:
        """Return the `credential_key`; ADK's older way to read it."""
        return self.credential_key

    def _given_key(self) -> str | None:
        """Return the key given in the scheme or the credential, where ADK accepts one, too."""
        for model in (self.raw_auth_credential, self.auth_scheme):
            extra = (model.model_extra if model else None) or {}
            key = extra.get("credential_key") or extra.get("credentialKey")
            if isinstance(key, str) and key:
                return key
        return None

    def _derived_key(self) -> str:
        """Derive the key in the way of ADK, so that both find what either has stored."""
        scheme = f"{self.auth_scheme.type_}_{_digest(self.auth_scheme, {})}"
        raw = self.raw_auth_credential
        credential = f"{raw.auth_type}_{_digest(raw, {'oauth2': _OF_ONE_LOGIN})}" if raw else ""
        return f"adk_{scheme}_{credential}"


class AuthToolArguments(AuthModel):
    """The arguments of the function call that asks a client for a credential."""

    function_call_id: str
    """The id of the tool call that waits for the credential."""
    auth_config: AuthConfig
    """The request; with the credential added, it is the response."""


def _digest(model: BaseModel, exclude: dict[str, set[str]]) -> str:
    unknown = dict.fromkeys(model.model_extra or {}, True)
    plain = model.model_dump(
        mode="json", by_alias=True, exclude={**exclude, **unknown}, exclude_none=True
    )
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
