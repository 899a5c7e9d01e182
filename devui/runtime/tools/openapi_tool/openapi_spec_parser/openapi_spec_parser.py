"""`OpenApiSpecParser`: operations of a service, to be changed before they are tools.

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
    """Of the server."""
    path: str
    """Below it, with `{name}` for each argument that goes into it."""
    method: str
    """As the description has it, such as `get`."""


@dataclass(slots=True)
class ParsedOperation:
    """An operation and its authorisation; `RestApiTool` makes a tool of it."""

    operation: Operation
    """As the document has it."""
    auth_scheme: AuthScheme | None = None
    """By default the one that the description demands."""
    auth_credential: AuthCredential | None = None
    """What calls prove who they are with; None if nothing is asked."""

    @property
    def name(self) -> str:
        """That of the tool."""
        return self.operation.name

    @property
    def description(self) -> str:
        """What the model reads."""
        return self.operation.description

    @property
    def endpoint(self) -> OperationEndpoint:
        """Where it is."""
        one = self.operation
        return OperationEndpoint(one.base_url, one.path, one.method.lower())


class OpenApiSpecParser:
    """Parses OpenAPI 3 descriptions; `OpenAPIToolset` does this by itself."""

    def __init__(self, *, preserve_property_names: bool = False) -> None:
        """Say whether arguments keep their names as they are, or become snake_case."""
        self._preserve_property_names = preserve_property_names

    def parse(self, openapi_spec_dict: dict[str, Any]) -> list[ParsedOperation]:
        """The operations in the description's order.

        Raises:
            ValueError: it is no such description, or refers to what it does not hold.
        """
        all_operations = operations(
            openapi_spec_dict, preserve_property_names=self._preserve_property_names
        )
        return [ParsedOperation(one, one.auth_scheme) for one in all_operations]
