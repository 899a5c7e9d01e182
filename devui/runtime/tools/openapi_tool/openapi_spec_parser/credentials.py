"""Credentials in HTTP requests (adk-runtime 8.6, 8.9)."""

from typing import TYPE_CHECKING

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_headers import authorization_headers, is_sendable
from devui.runtime.auth.auth_schemes import APIKey, AuthScheme
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_manager import CredentialManager
from devui.runtime.tools.openapi_tool.openapi_spec_parser.requests import Request

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class Access:
    """The right to one call of a service: the credential that is sent with it."""

    def __init__(self, config: AuthConfig, context: "Context | None") -> None:
        self._manager = CredentialManager(config)
        self._context = context
        self._credential: AuthCredential | None = None

    async def authorise(self, request: Request) -> bool:
        """Put the credential into the request; False after asking the user for one.

        Raises:
            ValueError: the config does not tell enough.
            CredentialExchangeError: the agent's own client or account is refused.
        """
        if self._context is not None:
            return await self._put(request, await self._manager.get_auth_credential(self._context))
        raw = self._manager.auth_config.raw_auth_credential
        return await self._put(request, raw if raw is not None and is_sendable(raw) else None)

    async def renew(self, request: Request) -> bool:
        """Put another token in the place of one that was refused; False if there is none."""
        if self._context is None or self._credential is None:
            return False
        found = await self._manager.replace(self._context, self._credential)
        if found is not None:
            put(request, self._manager.auth_config.auth_scheme, found)
        return found is not None

    async def ask_anew(self) -> bool:
        """Ask the user for another token; False if they have just given it, or cannot log in."""
        if self._context is None or self._manager.is_new(self._context):
            return False
        try:
            await self._manager.request_credential(self._context)
        except ValueError:  # a token of the config: what the service says is what helps
            return False
        return True

    @property
    def is_renewable(self) -> bool:
        """Whether there may be another credential, should the service refuse this one."""
        credential = self._credential
        return (
            self._context is not None and credential is not None and credential.oauth2 is not None
        )

    async def _put(self, request: Request, found: AuthCredential | None) -> bool:
        self._credential = found
        if found is not None:
            put(request, self._manager.auth_config.auth_scheme, found)
        elif self._context is not None:
            await self._manager.request_credential(self._context)
        return found is not None


def put(request: Request, scheme: AuthScheme, credential: AuthCredential) -> None:
    """Put the credential where the scheme wants it.

    Raises:
        ValueError: it is of another kind.
    """
    headers = authorization_headers(credential)
    if credential.api_key and isinstance(scheme, APIKey):
        if scheme.in_ == "query":
            request.query.append((scheme.name, credential.api_key))
        else:
            place = request.headers if scheme.in_ == "header" else request.cookies
            place[scheme.name] = credential.api_key
    elif headers:
        request.headers.update(headers)
    else:
        raise ValueError(
            f"A credential of type {credential.auth_type.value} cannot be sent as the scheme"
            f" {scheme.type_} wants it: give auth_credential and auth_scheme that fit each other."
        )
