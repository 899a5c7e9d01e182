"""The credential of an MCP server, as HTTP headers (adk-runtime 8.9)."""

from typing import TYPE_CHECKING

from devui.runtime.agents.context import Context
from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_headers import authorization_headers, is_sendable
from devui.runtime.auth.auth_schemes import APIKey, AuthScheme
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_manager import CredentialManager

if TYPE_CHECKING:
    from devui.runtime.agents.readonly_context import ReadonlyContext


class HeaderAccess:
    """The right to talk to a server: by a fixed credential, or by one that is got ready first."""

    def __init__(
        self, scheme: AuthScheme | None, credential: AuthCredential | None, key: str | None
    ) -> None:
        """Prepare access.

        Raises:
            ValueError: the credential cannot be sent in a header, or not without a scheme.
        """
        self.config: AuthConfig | None = None
        self._fixed = credential if scheme is None else None
        if scheme is not None:
            self.config = AuthConfig(
                auth_scheme=scheme, raw_auth_credential=credential, credential_key=key
            )
            _check_place(self.config.auth_scheme)
        elif credential is not None and not is_sendable(credential):
            raise ValueError(
                "Without an auth_scheme, McpToolset sends API keys, HTTP credentials and access"
                " tokens; this auth_credential has none of them."
            )

    async def headers(self, context: "ReadonlyContext | None") -> dict[str, str]:
        """The headers for this invocation; none if there is no credential."""
        credential = await self._credential(context)
        if credential is None:
            return {}
        if credential.api_key:
            scheme = self.config.auth_scheme if self.config else None
            return {scheme.name if isinstance(scheme, APIKey) else "X-API-Key": credential.api_key}
        return authorization_headers(credential)

    async def _credential(self, context: "ReadonlyContext | None") -> AuthCredential | None:
        if self.config is None:
            return self._fixed
        if isinstance(context, Context):  # a call: the credential may have ended meanwhile
            return await CredentialManager(self.config).get_auth_credential(context)
        found = context.get_credential(self.config.credential_key or "") if context else None
        raw = self.config.raw_auth_credential
        return found or (raw if raw is not None and is_sendable(raw) else None)


def _check_place(scheme: AuthScheme) -> None:
    if isinstance(scheme, APIKey) and scheme.in_ != "header":
        raise ValueError("An MCP server takes an API key in a header only.")
