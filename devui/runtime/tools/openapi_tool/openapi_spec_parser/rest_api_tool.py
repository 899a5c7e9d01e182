"""`RestApiTool`: one operation of an HTTP service (adk-runtime 8.9)."""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.auth.auth_credential import AuthCredential, authorization_headers, is_sendable
from devui.runtime.auth.auth_schemes import APIKey, AuthScheme
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_manager import CredentialManager
from devui.runtime.calling import call
from devui.runtime.http_client import httpx, kinds
from devui.runtime.jsonable import half_told
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.openapi_tool.auth.auth_helpers import dict_to_auth_scheme
from devui.runtime.tools.openapi_tool.openapi_spec_parser.openapi_spec_parser import (
    OperationEndpoint,
    ParsedOperation,
)
from devui.runtime.tools.openapi_tool.openapi_spec_parser.operations import Operation
from devui.runtime.tools.openapi_tool.openapi_spec_parser.requests import Request, build
from devui.runtime.tools.openapi_tool.openapi_spec_parser.sending import HttpxClientFactory, send

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


# Credentials in HTTP requests (adk-runtime 8.6, 8.9).


class Access:
    """Authorizes one call of a service with a credential."""

    def __init__(self, config: AuthConfig, context: "Context | None") -> None:
        self._manager = CredentialManager(config)
        self._context = context
        self._credential: AuthCredential | None = None

    async def authorise(self, request: Request) -> bool:
        """Add the credential to the request; return False after asking the user for one.

        Raises:
            ValueError: the config is incomplete.
            CredentialExchangeError: the agent's own client or account is refused.
        """
        if self._context is not None:
            return await self._put(request, await self._manager.get_auth_credential(self._context))
        raw = self._manager.auth_config.raw_auth_credential
        return await self._put(request, raw if raw is not None and is_sendable(raw) else None)

    async def renew(self, request: Request) -> bool:
        """Replace the refused token in the request; return False if there is no other."""
        if self._context is None or self._credential is None:
            return False
        credential = await self._manager.replace(self._context, self._credential)
        if credential is not None:
            put(request, self._manager.auth_config.auth_scheme, credential)
        return credential is not None

    async def ask_anew(self) -> bool:
        """Ask the user for another token; return False if this one is new, or they can't log in."""
        if self._context is None or self._manager.is_new(self._context):
            return False
        try:
            await self._manager.request_credential(self._context)
        except ValueError:  # a token of the config: the service's answer is more helpful
            return False
        return True

    @property
    def is_renewable(self) -> bool:
        """Whether there may be another credential if the service refuses this one."""
        credential = self._credential
        return (
            self._context is not None and credential is not None and credential.oauth2 is not None
        )

    async def _put(self, request: Request, credential: AuthCredential | None) -> bool:
        self._credential = credential
        if credential is not None:
            put(request, self._manager.auth_config.auth_scheme, credential)
        elif self._context is not None:
            await self._manager.request_credential(self._context)
        return credential is not None


def put(request: Request, scheme: AuthScheme, credential: AuthCredential) -> None:
    """Add the credential to the request as the scheme requires.

    Raises:
        ValueError: it is of another type.
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
            f"A credential of type {credential.auth_type.value} cannot be used with the"
            f" security scheme {scheme.type_}. Pass a matching auth_credential and auth_scheme."
        )


_BODY_LENGTH = 10_000
"""How much of an error's body the model gets, in characters: enough for long lists of mistakes, but
not for whole pages."""
_PENDING = {
    "pending": True,
    "message": "The user was asked for permission to use the service. Wait for the answer.",
}


@dataclass(frozen=True, slots=True)
class RestSettings:
    """The settings that all operations of a service share; see `OpenAPIToolset`."""

    auth_scheme: AuthScheme | None = None
    auth_credential: AuthCredential | None = None
    credential_key: str | None = None
    ssl_verify: bool | str | ssl.SSLContext | None = None
    header_provider: Callable[..., Any] | None = None
    httpx_client_factory: HttpxClientFactory | None = None
    allow_private_network_access: bool = False


class RestApiTool(BaseTool):
    """Calls an operation and returns the service's JSON to the model.

    Text is returned as `{"text": …}`, a failure as `{"error": …}`. Redirects aren't followed,
    unless private networks are allowed and your own client follows them: they could lead to an
    unchecked host.
    """

    def __init__(self, operation: Operation, settings: RestSettings | None = None) -> None:
        """Create the tool for an operation."""
        super().__init__(name=operation.name, description=operation.description)
        self.operation = operation
        self._rest_settings = settings or RestSettings()
        self._default_headers: dict[str, str] = {}

    @classmethod
    def from_parsed_operation(
        cls,
        parsed: ParsedOperation,
        ssl_verify: bool | str | ssl.SSLContext | None = None,
        header_provider: Callable[..., Any] | None = None,
        httpx_client_factory: HttpxClientFactory | None = None,
        *,
        allow_private_network_access: bool = False,
    ) -> "RestApiTool":
        """Create the tool for an operation from `OpenApiSpecParser`; see `OpenAPIToolset`."""
        return cls(
            parsed.operation,
            RestSettings(
                auth_scheme=parsed.auth_scheme,
                auth_credential=parsed.auth_credential,
                ssl_verify=ssl_verify,
                header_provider=header_provider,
                httpx_client_factory=httpx_client_factory,
                allow_private_network_access=allow_private_network_access,
            ),
        )

    @property
    def endpoint(self) -> OperationEndpoint:
        """The address and method of the operation."""
        return ParsedOperation(self.operation).endpoint

    @property
    def auth_scheme(self) -> AuthScheme | None:
        """How the service expects authorization: as configured, or else as in its description."""
        return self._rest_settings.auth_scheme or self.operation.auth_scheme

    @property
    def auth_credential(self) -> AuthCredential | None:
        """The key, password or token to send; without one, the user is asked."""
        return self._rest_settings.auth_credential

    def configure_auth_scheme(self, auth_scheme: AuthScheme | Mapping[str, Any]) -> None:
        """Set how this operation expects authorization, as an object or as in a description.

        Raises:
            ValueError: a mapping isn't a security scheme.
        """
        scheme = (
            dict_to_auth_scheme(auth_scheme) if isinstance(auth_scheme, Mapping) else auth_scheme
        )
        self._rest_settings = replace(self._rest_settings, auth_scheme=scheme)

    def configure_auth_credential(
        self, auth_credential: AuthCredential | str | None = None
    ) -> None:
        """Set or remove the credential to send, an object or JSON; without one, the user is asked.

        Raises:
            pydantic.ValidationError: a string isn't a credential.
        """
        if isinstance(auth_credential, str):
            auth_credential = AuthCredential.model_validate_json(auth_credential)
        self._rest_settings = replace(self._rest_settings, auth_credential=auth_credential)

    def configure_credential_key(self, credential_key: str | None = None) -> None:
        """Set the name under which the user's answer is stored."""
        self._rest_settings = replace(self._rest_settings, credential_key=credential_key)

    def configure_ssl_verify(self, ssl_verify: bool | str | ssl.SSLContext | None = None) -> None:
        """Set whether and how to check the service's certificate; it is checked by default."""
        self._rest_settings = replace(self._rest_settings, ssl_verify=ssl_verify)

    def set_default_headers(self, headers: Mapping[str, str]) -> None:
        """Send these headers with every call that doesn't set them itself."""
        self._default_headers = dict(headers)

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self.operation.parameters_schema(),
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: "Context | None") -> Any:
        """Send the request and return the service's answer; the model is told about failures.

        Raises:
            ValueError: scheme and credential are incomplete, or don't fit each other.
            CredentialExchangeError: the agent's own client or account is refused.
        """
        config = _auth_config(self)
        access = Access(config, tool_context) if config else None
        try:
            request = build(self.operation, args)
            await _add_headers(self, request, tool_context)
        except ValueError as error:
            return _failed(self, error)
        if access is not None and not await access.authorise(request):
            return dict(_PENDING)
        try:
            return await _answer(self, request, access)
        except (ValueError, *kinds("HTTPError", "InvalidURL")) as error:
            return _failed(self, error)


async def _send(tool: RestApiTool, request: Request) -> Any:
    settings = tool._rest_settings
    return await send(
        request,
        verify=True if settings.ssl_verify is None else settings.ssl_verify,
        make_client=settings.httpx_client_factory,
        private=settings.allow_private_network_access,
    )


async def _add_headers(tool: RestApiTool, request: Request, context: "Context | None") -> None:
    request.headers.setdefault("User-Agent", f"devui (tool: {tool.name})")
    for name, value in tool._default_headers.items():
        request.headers.setdefault(name, value)
    provide = tool._rest_settings.header_provider
    if provide is not None and context is not None:
        request.headers.update(await call(provide, context) or {})


def _auth_config(tool: RestApiTool) -> AuthConfig | None:
    scheme = tool.auth_scheme
    if scheme is None:
        return None
    return AuthConfig(
        auth_scheme=scheme,
        raw_auth_credential=tool.auth_credential,
        credential_key=tool._rest_settings.credential_key,
    )


async def _answer(tool: RestApiTool, request: Request, access: Access | None) -> Any:
    """Return the answer; if the service refuses a token, renew it, or ask the user for one."""
    response = await _send(tool, request)
    if access is None or not access.is_renewable or not _is_refusal(response):
        return _read(response)
    if await access.renew(request):
        return _read(await _send(tool, request))
    return dict(_PENDING) if await access.ask_anew() else _read(response)


def _is_refusal(response: Any) -> bool:
    """Whether another token may help; it wouldn't with insufficient scopes (RFC 6750, 3.1)."""
    challenge = response.headers.get("www-authenticate", "")
    return (
        response.status_code == httpx.codes.UNAUTHORIZED and "insufficient_scope" not in challenge
    )


def _failed(tool: RestApiTool, error: Exception) -> dict[str, str]:
    return {"error": f"{tool.name} failed: {_words(error)}"}


def _words(error: Exception) -> str:
    """Return the error message for the model."""
    if isinstance(error, UnicodeEncodeError):
        return half_told(error)
    if isinstance(error, kinds("TimeoutException")):
        return f"the service did not answer in time ({type(error).__name__})."
    return str(error) or type(error).__name__


def _read(response: Any) -> Any:
    if response.status_code >= httpx.codes.MULTIPLE_CHOICES:
        where = response.headers.get("location")
        more = f" (it leads to {where}; redirects are not followed)" if where else ""
        excerpt = _beginning(response.text)
        raise ValueError(f"the service answered with HTTP {response.status_code}{more}: {excerpt}")
    try:
        return response.json()
    except ValueError:
        return {"text": response.text}


def _beginning(text: str) -> str:
    rest = len(text) - _BODY_LENGTH
    return text if rest <= 0 else f"{text[:_BODY_LENGTH]}... ({rest} characters more were left out)"
