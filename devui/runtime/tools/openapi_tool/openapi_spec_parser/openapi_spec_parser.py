"""`OpenApiSpecParser`: operations of a service that can be changed before they become tools.

See adk-runtime 8.9.
"""

from dataclasses import dataclass
from typing import Any

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import AuthScheme
from devui.runtime.tools.openapi_tool.openapi_spec_parser.operations import Operation, operations


@dataclass(slots=True)
class OperationEndpoint:
    """The address and method of an operation."""

    base_url: str
    """The address of the server."""
    path: str
    """The path below it, with `{name}` for each argument in it."""
    method: str
    """The method as written in the description, such as `get`."""


@dataclass(slots=True)
class ParsedOperation:
    """An operation and its authorization; `RestApiTool` makes a tool from it."""

    operation: Operation
    """The operation as described in the document."""
    auth_scheme: AuthScheme | None = None
    """The scheme for authorization; by default, the one in the description."""
    auth_credential: AuthCredential | None = None
    """The credential of calls; None if none is needed."""

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.operation.name

    @property
    def description(self) -> str:
        """The description that the model reads."""
        return self.operation.description

    @property
    def endpoint(self) -> OperationEndpoint:
        """The address and method."""
        one = self.operation
        return OperationEndpoint(one.base_url, one.path, one.method.lower())


class OpenApiSpecParser:
    """Parses OpenAPI 3 descriptions; `OpenAPIToolset` does this by itself."""

    def __init__(self, *, preserve_property_names: bool = False) -> None:
        """Choose whether arguments keep their names or become snake_case."""
        self._preserve_property_names = preserve_property_names

    def parse(self, openapi_spec_dict: dict[str, Any]) -> list[ParsedOperation]:
        """Return the operations in the order of the description.

        Raises:
            ValueError: it isn't such a description, or has references to what it doesn't contain.
        """
        all_operations = operations(
            openapi_spec_dict, preserve_property_names=self._preserve_property_names
        )
        return [ParsedOperation(one, one.auth_scheme) for one in all_operations]
