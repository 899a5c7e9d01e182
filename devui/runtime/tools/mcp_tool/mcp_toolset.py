"""`McpToolset`: the tools of an MCP server (adk-runtime 8.9)."""

import logging
import os
import sys
import time
import warnings
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TextIO, TypeVar

import mcp.types
from mcp import StdioServerParameters as StdioServerParameters
from pydantic import model_validator

from devui.runtime.agents.context import Context
from devui.runtime.agents.invocation_events import (
    REQUEST_CONFIRMATION,
    REQUEST_CREDENTIAL,
    REQUEST_INPUT,
)
from devui.runtime.auth.auth_credential import AuthCredential, authorization_headers, is_sendable
from devui.runtime.auth.auth_schemes import APIKey, AuthScheme
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_manager import CredentialManager
from devui.runtime.calling import call
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, ToolFilter
from devui.runtime.tools.confirmation_gate import requirement
from devui.runtime.tools.control_tools import transfer_to_agent
from devui.runtime.tools.load_mcp_resource_tool import LoadMcpResourceTool
from devui.runtime.tools.mcp_tool.mcp_session_manager import ConnectionParams, MCPSessionManager
from devui.runtime.tools.mcp_tool.mcp_session_manager import (
    SseConnectionParams as SseConnectionParams,
)
from devui.runtime.tools.mcp_tool.mcp_session_manager import (
    StdioConnectionParams as StdioConnectionParams,
)
from devui.runtime.tools.mcp_tool.mcp_session_manager import (
    StreamableHTTPConnectionParams as StreamableHTTPConnectionParams,
)
from devui.runtime.tools.mcp_tool.mcp_tool import (
    McpTool,
    ProgressCallbackFactory,
    ProgressFnT,
    as_told,
)
from devui.runtime.tools.set_model_response_tool import SetModelResponseTool
from devui.runtime.tools.tool_configs import BaseToolConfig, ToolArgsConfig

if TYPE_CHECKING:
    from devui.runtime.agents.context import ReadonlyContext


# The credential of an MCP server, as HTTP headers (adk-runtime 8.9).


class HeaderAccess:
    """Authorizes requests to a server, with a fixed credential or one that is obtained first."""

    def __init__(
        self, scheme: AuthScheme | None, credential: AuthCredential | None, key: str | None
    ) -> None:
        """Prepare access.

        Raises:
            ValueError: the credential can't be sent in a header, or needs a scheme for that.
        """
        self.config: AuthConfig | None = None
        self._fixed_credential = credential if scheme is None else None
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
        """Return the headers for this invocation; empty if there is no credential."""
        credential = await self._credential(context)
        if credential is None:
            return {}
        if credential.api_key:
            scheme = self.config.auth_scheme if self.config else None
            return {scheme.name if isinstance(scheme, APIKey) else "X-API-Key": credential.api_key}
        return authorization_headers(credential)

    async def _credential(self, context: "ReadonlyContext | None") -> AuthCredential | None:
        if self.config is None:
            return self._fixed_credential
        if isinstance(context, Context):  # a call: the credential may have expired meanwhile
            return await CredentialManager(self.config).get_auth_credential(context)
        credential = context.get_credential(self.config.credential_key or "") if context else None
        raw = self.config.raw_auth_credential
        return credential or (raw if raw is not None and is_sendable(raw) else None)


def _check_place(scheme: AuthScheme) -> None:
    if isinstance(scheme, APIKey) and scheme.in_ != "header":
        raise ValueError("An MCP server accepts an API key only in a header.")


logger = logging.getLogger(__name__)

HeaderProvider = (
    Callable[["ReadonlyContext"], dict[str, str]]
    | Callable[["ReadonlyContext"], Awaitable[dict[str, str]]]
)

T = TypeVar("T")
P = TypeVar("P", bound=mcp.types.PaginatedResult)
_ToolLists = dict[frozenset[tuple[str, str]], tuple[float, list[mcp.types.Tool]]]
"""By request headers: when the server was asked, by `time.monotonic`, and the tools it listed."""

_RESERVED = frozenset(
    {
        REQUEST_CONFIRMATION,
        REQUEST_CREDENTIAL,
        REQUEST_INPUT,
        SetModelResponseTool.NAME,
        transfer_to_agent.__name__,
    }
)
"""Names that the runtime itself uses for calls; a server must not answer them."""

ALLOW_CONFIG_STDIO_SERVERS_ENV_VAR = "ADK_ALLOW_CONFIG_STDIO_MCP_SERVERS"
"""The environment variable that lets YAML files name commands as servers."""
_YES = frozenset({"1", "true", "yes", "on"})
_SERVERS = (
    "stdio_server_params",
    "stdio_connection_params",
    "sse_connection_params",
    "streamable_http_connection_params",
)


class McpToolset(BaseToolset):
    """The tools that an MCP server offers, sorted by name.

    The connection is opened when first needed, kept between invocations, and reopened after a
    failure. Closing the runner closes it and stops a server it started.
    """

    def __init__(  # noqa: PLR0913  the names are those of ADK
        self,
        *,
        connection_params: ConnectionParams,
        tool_filter: ToolFilter | None = None,
        tool_name_prefix: str | None = None,
        tool_list_cache_ttl_seconds: float | None = None,
        errlog: TextIO = sys.stderr,
        auth_scheme: AuthScheme | None = None,
        auth_credential: AuthCredential | None = None,
        require_confirmation: bool | Callable[..., Any] = False,
        header_provider: HeaderProvider | None = None,
        progress_callback: ProgressFnT | ProgressCallbackFactory | None = None,
        use_mcp_resources: bool | None = False,
        sampling_callback: Any = None,
        sampling_capabilities: Any = None,
        elicitation_callback: Any = None,
        credential_key: str | None = None,
        propagate_grounding_metadata: bool = False,
    ) -> None:
        """Describe the server and the choice of its tools.

        Args:
            connection_params: How to connect to the server.
            tool_filter: The names of the tools to offer, or a predicate.
            tool_name_prefix: A prefix for each name, followed by an underscore.
            tool_list_cache_ttl_seconds: How long a list of tools may be reused in other
                invocations; without it, every invocation asks the server.
            errlog: Where the stderr of a child process goes.
            auth_scheme: How the server expects authorization: where a key goes, or where tokens
                come from. With it, the user is asked for what `auth_credential` lacks.
            auth_credential: A key, token or password to send with every request, or the client or
                account that gets a token.
            require_confirmation: Whether the user must agree to each call first, or a function of
                the call's arguments that decides this.
            header_provider: Returns more HTTP headers for an invocation; sync or async.
            progress_callback: Called with a call's progress: `async (progress, total, message)`; or
                a plain function of a tool's name and `callback_context` that returns such a
                callback or None.
            use_mcp_resources: Whether to add a tool with which the model can read the server's
                resources.
            sampling_callback: Answers the server's requests to call a model.
            sampling_capabilities: The capabilities of that callback.
            elicitation_callback: Answers the server's questions to the user.
            credential_key: The name under which the user's answer is stored.
            propagate_grounding_metadata: Whether the model's answers include the sources that
                results name, for the rest of the invocation.

        Raises:
            ValueError: `connection_params` has the wrong type, the credential can't be sent in a
                header, or `tool_list_cache_ttl_seconds` isn't positive.
        """
        if tool_list_cache_ttl_seconds is not None and tool_list_cache_ttl_seconds <= 0:
            raise ValueError(
                "tool_list_cache_ttl_seconds must be more than 0, or None to disable the cache."
            )
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        # google-adk's names: plugins set them in toolsets that others have created.
        self._connection_params = connection_params
        self._auth_scheme, self._auth_credential = auth_scheme, auth_credential
        self._mcp_session_manager = MCPSessionManager(
            connection_params,
            errlog,
            sampling_callback=sampling_callback,
            sampling_capabilities=sampling_capabilities,
            elicitation_callback=elicitation_callback,
        )
        self._header_access = HeaderAccess(auth_scheme, auth_credential, credential_key)
        self._require_confirmation = requirement(require_confirmation)
        self._header_provider = header_provider
        self._use_mcp_resources, self._progress_callback = use_mcp_resources, progress_callback
        self._propagate_grounding_metadata = propagate_grounding_metadata
        self._tool_list_cache_ttl_seconds = tool_list_cache_ttl_seconds
        self._tool_list_cache: _ToolLists = {}

    @property
    def connection_params(self) -> ConnectionParams:
        """How to connect to the server."""
        return self._connection_params

    @property
    def errlog(self) -> TextIO:
        """Where the stderr of a child process goes."""
        return self._mcp_session_manager.errlog

    @property
    def auth_scheme(self) -> AuthScheme | None:
        """How the server expects authorization."""
        return self._auth_scheme

    @property
    def auth_credential(self) -> AuthCredential | None:
        """What to send with every request, or what gets a token."""
        return self._auth_credential

    @property
    def require_confirmation(self) -> bool | Callable[..., Any]:
        """Whether the user must agree to each call first, or a function that decides this."""
        return self._require_confirmation

    @property
    def header_provider(self) -> HeaderProvider | None:
        """Returns more HTTP headers for an invocation."""
        return self._header_provider

    async def get_tools(self, readonly_context: "ReadonlyContext | None" = None) -> list[BaseTool]:
        """Return the server's tools that were chosen.

        Raises:
            ConnectionError: the server can't be reached or doesn't answer in time.
            mcp.MCPError: it refuses to list its tools.
        """
        tools = []
        for definition in await _list_tools(self, await _headers_for(self, readonly_context)):
            if definition.name in _RESERVED:
                logger.warning("Skipped the MCP tool %r: its name is reserved.", definition.name)
                continue
            tool = McpTool(
                mcp_tool=definition,
                mcp_session_manager=self._mcp_session_manager,
                headers=partial(_headers_for, self),
                require_confirmation=self._require_confirmation,
                progress_callback=self._progress_callback,
                propagate_grounding_metadata=self._propagate_grounding_metadata,
            )
            if self._is_tool_selected(tool, readonly_context):
                tools.append(tool)
        listing: list[BaseTool] = sorted(tools, key=lambda tool: tool.name)
        return [*listing, LoadMcpResourceTool(self)] if self._use_mcp_resources else listing

    async def list_resources(self, readonly_context: "ReadonlyContext | None" = None) -> list[str]:
        """Return the names of the server's resources; raise what `get_tools` raises."""
        return [each.name for each in await _resources(self, readonly_context)]

    async def get_resource_info(
        self, name: str, readonly_context: "ReadonlyContext | None" = None
    ) -> dict[str, Any]:
        """Return the server's description of a resource; raise ValueError if it doesn't exist."""
        resources = await _resources(self, readonly_context)
        for each in resources:
            if each.name == name:
                return as_told(each)
        raise ValueError(
            f"The MCP server has no resource {name!r}; it has {[each.name for each in resources]}."
        )

    async def read_resource(
        self, name: str, readonly_context: "ReadonlyContext | None" = None
    ) -> list[Any]:
        """Return the contents of a resource; raise what `get_resource_info` raises."""
        uri = (await self.get_resource_info(name, readonly_context))["uri"]
        result = await _ask(self, readonly_context, lambda client: client.read_resource(uri))
        return list(result.contents)

    def get_auth_config(self) -> AuthConfig | None:
        """Return how to authorize requests; None without an auth_scheme."""
        return self._header_access.config

    async def close(self) -> None:
        """Close the connections; this ends a server that runs as a child process."""
        self._tool_list_cache.clear()
        await self._mcp_session_manager.close()

    @classmethod
    def from_config(cls, config: ToolArgsConfig, config_abs_path: str) -> Self:
        """Create the toolset that an entry of `tools` in a YAML file describes.

        Raises:
            ValueError: the entry names no server, several, or a command that isn't allowed.
        """
        fields = McpToolsetConfig.model_validate(dict(config))
        allowed = os.environ.get(ALLOW_CONFIG_STDIO_SERVERS_ENV_VAR, "").strip().lower()
        if fields.starts_process and allowed not in _YES:
            raise ValueError(
                "McpToolset may not start a command from a YAML file: whoever writes the"
                " file could run any program. Create the toolset in Python and name it here, use"
                " sse_connection_params or streamable_http_connection_params, or set"
                f" {ALLOW_CONFIG_STDIO_SERVERS_ENV_VAR}=1 if you trust the files."
            )
        return cls(connection_params=fields.connection_params, **fields.settings)


class McpToolsetConfig(BaseToolConfig):
    """The `args` of an McpToolset in a YAML file."""

    stdio_server_params: StdioServerParameters | None = None
    stdio_connection_params: StdioConnectionParams | None = None
    sse_connection_params: SseConnectionParams | None = None
    streamable_http_connection_params: StreamableHTTPConnectionParams | None = None
    tool_filter: list[str] | None = None
    tool_name_prefix: str | None = None
    tool_list_cache_ttl_seconds: float | None = None
    auth_scheme: AuthScheme | None = None
    auth_credential: AuthCredential | None = None
    credential_key: str | None = None
    use_mcp_resources: bool = False

    @model_validator(mode="after")
    def _names_one_server(self) -> Self:
        if len(self._servers) != 1:
            *others, last = _SERVERS
            raise ValueError(f"McpToolset needs exactly one of {', '.join(others)} and {last}.")
        return self

    @property
    def _servers(self) -> list[ConnectionParams]:
        return [each for name in _SERVERS if (each := getattr(self, name)) is not None]

    @property
    def connection_params(self) -> ConnectionParams:
        """How to connect to the server."""
        return self._servers[0]

    @property
    def starts_process(self) -> bool:
        """Whether the server is started by a command."""
        return isinstance(self.connection_params, StdioServerParameters | StdioConnectionParams)

    @property
    def settings(self) -> dict[str, Any]:
        """The toolset's other arguments."""
        return {name: value for name, value in self if name not in _SERVERS}


async def _headers_for(toolset: McpToolset, context: "ReadonlyContext | None") -> dict[str, str]:
    own = await toolset._header_access.headers(context)
    if toolset._header_provider is None or context is None:
        return own
    provider_headers: dict[str, str] = await call(toolset._header_provider, context) or {}
    own_names = {name.lower() for name in own}
    return {**{k: v for k, v in provider_headers.items() if k.lower() not in own_names}, **own}


async def _list_tools(toolset: McpToolset, headers: dict[str, str]) -> list[mcp.types.Tool]:
    if toolset._tool_list_cache_ttl_seconds is None:
        return await toolset._mcp_session_manager.ask(headers, _all_tools, changes_nothing=True)
    long_ago = time.monotonic() - toolset._tool_list_cache_ttl_seconds
    # Each new token of a user leads to a new list.
    toolset._tool_list_cache = {
        key: each for key, each in toolset._tool_list_cache.items() if each[0] > long_ago
    }
    key = frozenset(headers.items())
    _, tools = toolset._tool_list_cache.get(key, (0.0, []))
    if not tools:
        tools = await toolset._mcp_session_manager.ask(headers, _all_tools, changes_nothing=True)
        toolset._tool_list_cache[key] = (time.monotonic(), tools)
    return tools


async def _ask(
    toolset: McpToolset,
    context: "ReadonlyContext | None",
    question: Callable[[mcp.Client], Awaitable[T]],
) -> T:
    headers = await _headers_for(toolset, context)
    return await toolset._mcp_session_manager.ask(headers, question, changes_nothing=True)


async def _resources(
    toolset: McpToolset, context: "ReadonlyContext | None"
) -> list[mcp.types.Resource]:
    return await _ask(toolset, context, _all_resources)


class MCPToolset(McpToolset):
    """The former name of `McpToolset`."""

    def __init__(self, **kwargs: Any) -> None:
        """Warn about the name."""
        warnings.warn("MCPToolset is deprecated. Use McpToolset.", DeprecationWarning, stacklevel=2)
        super().__init__(**kwargs)


async def _all_tools(client: mcp.Client) -> list[mcp.types.Tool]:
    return await _all_pages(client.list_tools, lambda page: page.tools)


async def _all_resources(client: mcp.Client) -> list[mcp.types.Resource]:
    return await _all_pages(client.list_resources, lambda page: page.resources)


async def _all_pages(
    list_page: Callable[..., Awaitable[P]], items: Callable[[P], list[T]]
) -> list[T]:
    entries: list[T] = []
    cursor = None
    while True:
        page = await list_page(cursor=cursor)
        entries += items(page)
        cursor = page.next_cursor
        if cursor is None:
            return entries
