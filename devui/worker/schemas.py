"""What a tool declares of its arguments and of its result, as JSON Schema for a form."""

import json
from typing import Any

from google.genai import types

from devui.runtime.tools.base_tool import BaseTool


def schema_of(tool: BaseTool | None) -> str | None:
    """The JSON text of the schema of the tool's arguments; None for a tool that declares none."""
    declared = _declared(tool)
    return _text(declared.parameters_json_schema, declared.parameters) if declared else None


def result_schema_of(tool: BaseTool | None) -> str | None:
    """The same of what it returns."""
    declared = _declared(tool)
    return _text(declared.response_json_schema, declared.response) if declared else None


def _declared(tool: BaseTool | None) -> types.FunctionDeclaration | None:
    if tool is None:
        return None
    try:
        declared = tool._get_declaration()
    except Exception:  # noqa: BLE001  agent code; it is told when the model is asked
        return None
    return declared if isinstance(declared, types.FunctionDeclaration) else None  # told there, too


def _text(as_json: Any, as_schema: types.Schema | None) -> str | None:
    if as_json is not None:
        return json.dumps(as_json)
    return as_schema.model_dump_json(by_alias=True, exclude_none=True) if as_schema else None
