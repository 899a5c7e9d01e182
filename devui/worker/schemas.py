"""What a tool declares of its arguments, as JSON Schema for a form."""

import json

from devui.runtime.tools.base_tool import BaseTool


def schema_of(tool: BaseTool | None) -> str | None:
    """The JSON text of the schema of the tool's arguments; None for a tool that declares none."""
    if tool is None:
        return None
    try:
        declared = tool._get_declaration()
    except Exception:  # noqa: BLE001  agent code; it is told when the model is asked
        return None
    if declared is None:
        return None
    if declared.parameters_json_schema is not None:
        return json.dumps(declared.parameters_json_schema)
    if declared.parameters is None:
        return None
    return declared.parameters.model_dump_json(by_alias=True, exclude_none=True)
