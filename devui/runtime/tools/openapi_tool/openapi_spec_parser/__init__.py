"""Turns OpenAPI descriptions into tools (adk-runtime 8.9)."""

from devui.runtime.tools.openapi_tool.openapi_spec_parser.openapi_spec_parser import (
    OpenApiSpecParser,
    OperationEndpoint,
    ParsedOperation,
)
from devui.runtime.tools.openapi_tool.openapi_spec_parser.openapi_toolset import OpenAPIToolset
from devui.runtime.tools.openapi_tool.openapi_spec_parser.rest_api_tool import RestApiTool

__all__ = [
    "OpenAPIToolset",
    "OpenApiSpecParser",
    "OperationEndpoint",
    "ParsedOperation",
    "RestApiTool",
]
