"""The declaration of a function for a model, made from its signature and docstring."""

import inspect
from collections.abc import Mapping
from typing import Annotated, Any

from google.genai import types
from pydantic import BaseModel, Field, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from devui.runtime.tools.function_signature import FunctionSignature


def declare(signature: FunctionSignature, description: str) -> types.FunctionDeclaration:
    """Declare a function: its parameters become a JSON schema (adk-runtime 8.2).

    The whole docstring is the description. A function without parameters, or
    with an annotation that cannot be resolved, is declared without a schema.

    Raises:
        ValueError: an annotation has no form in JSON.
    """
    return types.FunctionDeclaration(
        name=signature.name,
        description=description or None,
        parameters_json_schema=parameters_schema(signature.name, signature.parameters)
        if signature.resolved
        else None,
    )


def declare_model(model: type[BaseModel], description: str) -> types.FunctionDeclaration:
    """Declare a pydantic class by its fields, with their limits (adk-runtime 8.2)."""
    return types.FunctionDeclaration(
        name=model.__name__,
        description=description or None,
        parameters_json_schema=model.model_json_schema(schema_generator=_Schema),
    )


class _Schema(GenerateJsonSchema):
    # A default that JSON cannot hold is left out: the model need not know it.
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012  pydantic's declaration
        "skipped-choice",
        "non-serializable-default",
    }


def parameters_schema(
    function: str, parameters: Mapping[str, inspect.Parameter]
) -> dict[str, Any] | None:
    """The parameters of the function of that name as a JSON schema; None without (adk-runtime 8.2).

    Raises:
        ValueError: an annotation has no form in JSON.
    """
    if not parameters:
        return None
    # Fields are numbered and carry the parameter's name as alias: pydantic refuses some names
    # that functions may use (`_id`, `schema`, `copy`).
    fields: dict[str, Any] = {
        f"p{number}": (_annotation(parameter), _field(parameter))
        for number, parameter in enumerate(parameters.values())
        if not _is_private(parameter)
    }
    try:
        return _schema(function, fields)
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        culprit = _refused(fields)
        raise ValueError(
            f"Tool {function!r} cannot be declared to a model:"
            f"{culprit and f' parameter {culprit!r}:'} {error.message.partition('. ')[0]}."
            " Use types that JSON can express (str, int, float, bool, list, dict, enums,"
            " pydantic models)."
        ) from error


def _is_private(parameter: inspect.Parameter) -> bool:
    """Whether nobody but the code is meant to give it, as by its name: `_cache=None`."""
    return parameter.name.startswith("_") and parameter.default is not inspect.Parameter.empty


def _schema(function: str, fields: dict[str, Any]) -> dict[str, Any]:
    model = create_model(f"{function}Params", **fields)
    return model.model_json_schema(schema_generator=_Schema)


def _refused(fields: dict[str, Any]) -> str:
    """The name of the first parameter that cannot be declared by itself; "" if each can."""
    for number, field in fields.items():
        try:
            _schema("", {number: field})
        except (PydanticInvalidForJsonSchema, PydanticUserError):
            return str(field[1].alias)
    return ""


def _annotation(parameter: inspect.Parameter) -> Any:
    empty = parameter.annotation is inspect.Parameter.empty
    annotation = Any if empty else parameter.annotation
    default = parameter.default
    return Annotated[annotation, default] if isinstance(default, FieldInfo) else annotation


def _field(parameter: inspect.Parameter) -> Any:
    default = parameter.default
    if isinstance(default, FieldInfo):  # written as in a model: `city: str = Field(description=…)`
        default = ... if default.is_required() else default.default
    if default is inspect.Parameter.empty or default is ...:
        return Field(alias=parameter.name)
    return Field(alias=parameter.name, default=default)
