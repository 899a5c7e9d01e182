"""A value of some shape as the parameters of a function that a model calls (adk-runtime 7.6)."""

from dataclasses import dataclass
from typing import Any

from google.genai import types

from devui.runtime.models.output_schema import conformed, json_schema


@dataclass(frozen=True, slots=True)
class ValueParameters:
    """The fields of the value are the parameters, or one parameter holds it as a whole."""

    schema: Any
    """A pydantic model, any type of Python, or a JSON schema."""
    wrapped_in: str | None
    """The parameter that holds a value which has no named fields of its own."""

    def declared(self) -> dict[str, Any]:
        """The parameters as a JSON schema."""
        schema = json_schema(self.schema)
        if not self.wrapped_in:
            return _with_properties(schema)
        definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
        return {
            "type": "object",
            "properties": {self.wrapped_in: schema},
            "required": [self.wrapped_in],
            **definitions,
        }

    def value(self, args: dict[str, Any]) -> Any:
        """The value that a call gives, in the form of JSON without None values.

        Raises:
            ValueError: it does not fit the schema.
        """
        if not self.wrapped_in:
            return conformed(self.schema, args)
        if self.wrapped_in not in args and isinstance(self.schema, dict | types.Schema):
            # Nothing is checked against a JSON schema, so that the answer would be null.
            raise ValueError(
                f"The parameter {self.wrapped_in!r}, which holds all of it, is missing."
            )
        return conformed(self.schema, args.get(self.wrapped_in))


def _with_properties(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a model; that of a recursive one only refers to where it is defined.

    Models refuse parameters that are not those of an object at first sight.
    """
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    defined = schema.get("$defs", {}).get(name)
    return {**defined, "$defs": schema["$defs"]} if defined else schema
