"""Tools made from an OpenAPI description of an HTTP service (adk-runtime 8.9)."""

from devui.runtime.tools.openapi_tool.openapi_spec_parser.openapi_toolset import OpenAPIToolset
from devui.runtime.tools.openapi_tool.openapi_spec_parser.rest_api_tool import RestApiTool

__all__ = ["OpenAPIToolset", "RestApiTool"]
