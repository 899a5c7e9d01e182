"""`RestApiTool`: one operation of an HTTP service (adk-runtime 8.9)."""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import AuthScheme
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.calling import call
from devui.runtime.halves import half_told
from devui.runtime.http_client import httpx, kinds
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.openapi_tool.auth.auth_helpers import dict_to_auth_scheme
from devui.runtime.tools.openapi_tool.openapi_spec_parser.credentials import Access
from devui.runtime.tools.openapi_tool.openapi_spec_parser.openapi_spec_parser import (
    OperationEndpoint,
    ParsedOperation,
)
from devui.runtime.tools.openapi_tool.openapi_spec_parser.operations import Operation
from devui.runtime.tools.openapi_tool.openapi_spec_parser.requests import Request, build
from devui.runtime.tools.openapi_tool.openapi_spec_parser.sending import HttpxClientFactory, send

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

_SHOWN = 10_000
"""Characters of an error's body for the model: long lists of mistakes are whole, pages are not."""
_PENDING = {
    "pending": True,
    "message": "The user was asked for permission to use the service. Wait for the answer.",
}


@dataclass(frozen=True, slots=True)
class RestSettings:
    """What all operations of a service have in common; see `OpenAPIToolset`."""

    auth_scheme: AuthScheme | None = None
    auth_credential: AuthCredential | None = None
    credential_key: str | None = None
    ssl_verify: bool | str | ssl.SSLContext | None = None
    header_provider: Callable[..., Any] | None = None
    httpx_client_factory: HttpxClientFactory | None = None
    allow_private_network_access: bool = False


class RestApiTool(BaseTool):
    """Calls an operation, and gives the model the service's JSON.

    A text comes as `{"text": …}`, a failure as `{"error": …}`. Redirects are not followed, unless
    private networks are allowed and a client of one's own follows them: they could lead to a host
    that was not checked.
    """

    def __init__(self, operation: Operation, settings: RestSettings | None = None) -> None:
        """Make the tool of an operation."""
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
        """The tool of one operation that `OpenApiSpecParser` found; see `OpenAPIToolset`."""
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
        """Where the operation is."""
        return ParsedOperation(self.operation).endpoint

    @property
    def auth_scheme(self) -> AuthScheme | None:
        """How the service wants to be authorised: as was said, else as its description has it."""
        return self._rest_settings.auth_scheme or self.operation.auth_scheme

    @property
    def auth_credential(self) -> AuthCredential | None:
        """The key, password or token that is sent; without one, the user is asked."""
        return self._rest_settings.auth_credential

    def configure_auth_scheme(self, auth_scheme: AuthScheme | Mapping[str, Any]) -> None:
        """Say how this operation wants to be authorised, as an object or as a description has it.

        Raises:
            ValueError: a mapping is no security scheme.
        """
        scheme = (
            dict_to_auth_scheme(auth_scheme) if isinstance(auth_scheme, Mapping) else auth_scheme
        )
        self._rest_settings = replace(self._rest_settings, auth_scheme=scheme)

    def configure_auth_credential(
        self, auth_credential: AuthCredential | str | None = None
    ) -> None:
        """Set or take away what is sent, as an object or its JSON; else the user is asked.

        Raises:
            pydantic.ValidationError: a text is no credential.
        """
        if isinstance(auth_credential, str):
            auth_credential = AuthCredential.model_validate_json(auth_credential)
        self._rest_settings = replace(self._rest_settings, auth_credential=auth_credential)

    def configure_credential_key(self, credential_key: str | None = None) -> None:
        """Set the name under which the user's answer is kept."""
        self._rest_settings = replace(self._rest_settings, credential_key=credential_key)

    def configure_ssl_verify(self, ssl_verify: bool | str | ssl.SSLContext | None = None) -> None:
        """Say whether and how the service's certificate is checked: yes by default."""
        self._rest_settings = replace(self._rest_settings, ssl_verify=ssl_verify)

    def set_default_headers(self, headers: Mapping[str, str]) -> None:
        """Send these with every call that does not set them itself."""
        self._default_headers = dict(headers)

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self.operation.parameters_schema(),
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: "Context | None") -> Any:
        """Send the request and read the answer; what goes wrong with them is told to the model.

        Raises:
            ValueError: scheme and credential do not tell enough, or do not fit each other.
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
    """The answer; a token that the service refuses is renewed, or the user asked for one."""
    response = await _send(tool, request)
    if access is None or not access.is_renewable or not _is_refusal(response):
        return _read(response)
    if await access.renew(request):
        return _read(await _send(tool, request))
    return dict(_PENDING) if await access.ask_anew() else _read(response)


def _is_refusal(response: Any) -> bool:
    """Whether another token may help: it would be for the same scopes (RFC 6750, 3.1)."""
    told = response.headers.get("www-authenticate", "")
    return response.status_code == httpx.codes.UNAUTHORIZED and "insufficient_scope" not in told


def _failed(tool: RestApiTool, error: Exception) -> dict[str, str]:
    return {"error": f"{tool.name} failed: {_words(error)}"}


def _words(error: Exception) -> str:
    """What went wrong, for the model."""
    if isinstance(error, UnicodeEncodeError):
        return half_told(error)
    if isinstance(error, kinds("TimeoutException")):
        return f"the service did not answer in time ({type(error).__name__})."
    return str(error) or type(error).__name__


def _read(response: Any) -> Any:
    if response.status_code >= httpx.codes.MULTIPLE_CHOICES:
        where = response.headers.get("location")
        more = f" (it leads to {where}; redirects are not followed)" if where else ""
        told = _beginning(response.text)
        raise ValueError(f"the service answered with HTTP {response.status_code}{more}: {told}")
    try:
        return response.json()
    except ValueError:
        return {"text": response.text}


def _beginning(told: str) -> str:
    rest = len(told) - _SHOWN
    return told if rest <= 0 else f"{told[:_SHOWN]}... ({rest} characters more were left out)"
