"""`OpenAPIToolset`: a tool for each operation of an HTTP service (adk-runtime 8.9)."""

import json
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import AuthScheme
from devui.runtime.mistakes import brief
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, ToolFilter
from devui.runtime.tools.openapi_tool.openapi_spec_parser.operations import operations
from devui.runtime.tools.openapi_tool.openapi_spec_parser.rest_api_tool import (
    RestApiTool,
    RestSettings,
)
from devui.runtime.tools.openapi_tool.openapi_spec_parser.sending import HttpxClientFactory
from devui.runtime.yaml_text import parse_yaml

if TYPE_CHECKING:
    from devui.runtime.agents.context import ReadonlyContext


class OpenAPIToolset(BaseToolset):
    """The operations of an OpenAPI 3 description as tools, named by operationId."""

    def __init__(  # noqa: PLR0913  the names are those of ADK
        self,
        *,
        spec_dict: dict[str, Any] | None = None,
        spec_str: str | None = None,
        spec_str_type: Literal["json", "yaml"] = "json",
        auth_scheme: AuthScheme | None = None,
        auth_credential: AuthCredential | None = None,
        credential_key: str | None = None,
        tool_filter: ToolFilter | None = None,
        tool_name_prefix: str | None = None,
        ssl_verify: bool | str | ssl.SSLContext | None = None,
        header_provider: Callable[..., Any] | None = None,
        httpx_client_factory: HttpxClientFactory | None = None,
        preserve_property_names: bool = False,
        allow_private_network_access: bool = False,
    ) -> None:
        """Create the tools for a description.

        Args:
            spec_dict: The description.
            spec_str: The description as text, instead of `spec_dict`.
            spec_str_type: `json` or `yaml`, which needs `pip install devui[yaml]`.
            auth_scheme: How the service expects authorization; by default, as in the description.
            auth_credential: The key, password or token to send; without one that can be sent as it
                is, the user is asked.
            credential_key: The name under which the user's answer is stored.
            tool_filter: The names of the tools to offer, or a predicate.
            tool_name_prefix: A prefix for each name, followed by an underscore.
            ssl_verify: Whether and how to check the service's certificate.
            header_provider: Returns more headers for a call, from its context; sync or async.
            httpx_client_factory: Creates the HTTP client of a call. Unless private networks are
                allowed, it connects to the address that was checked, and follows no redirects.
            preserve_property_names: Whether arguments keep their names as they are.
            allow_private_network_access: Whether the service may be in a private network or on this
                machine.

        Raises:
            ValueError: there is no description, or it isn't an OpenAPI 3 description.
        """
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        spec = spec_dict if spec_dict is not None else _load_spec(spec_str, spec_str_type)
        settings = RestSettings(
            auth_scheme=auth_scheme,
            auth_credential=auth_credential,
            credential_key=credential_key,
            ssl_verify=ssl_verify,
            header_provider=header_provider,
            httpx_client_factory=httpx_client_factory,
            allow_private_network_access=allow_private_network_access,
        )
        if not isinstance(spec, dict):
            raise ValueError(  # noqa: TRY004  usually the text is wrong, not its type
                f"The OpenAPI description is {brief(spec)}, not an object. Pass its text, not its"
                " path."
            )
        all_operations = operations(spec, preserve_property_names=preserve_property_names)
        self._tools = [RestApiTool(operation, settings) for operation in all_operations]

    def _tools_at_load(self) -> list[BaseTool]:
        return self._unconditional_tools(self._tools)

    async def get_tools(self, readonly_context: "ReadonlyContext | None" = None) -> list[BaseTool]:
        """Return the operations that were chosen, in the order of the description."""
        return [tool for tool in self._tools if self._is_tool_selected(tool, readonly_context)]

    def get_tool(self, tool_name: str) -> RestApiTool | None:
        """Return the operation with that name, which has no prefix; None if there is none."""
        return next((tool for tool in self._tools if tool.name == tool_name), None)

    def configure_ssl_verify_all(
        self, ssl_verify: bool | str | ssl.SSLContext | None = None
    ) -> None:
        """Set for all operations whether and how to check the service's certificate."""
        for tool in self._tools:
            tool.configure_ssl_verify(ssl_verify)


def _load_spec(text: str | None, kind: str) -> Any:
    if text is None:
        raise ValueError("OpenAPIToolset needs a description: pass spec_dict or spec_str.")
    try:
        spec = parse_yaml(text) if kind == "yaml" else json.loads(text)
    except ValueError as error:
        error.add_note(f"spec_str was parsed as {kind}; set spec_str_type if it is something else.")
        raise
    return spec
