"""The inputs and outputs of agents that are called like functions (adk-runtime 8.7)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import BaseModel

from devui.runtime.mistakes import message_of
from devui.runtime.models.output_schema import conformed, json_schema

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent


# A value of any type as the parameters of a function that a model calls (adk-runtime 7.6).


@dataclass(frozen=True, slots=True)
class ValueParameters:
    """The parameters for a value: its fields, or a single parameter that holds it as a whole."""

    schema: Any
    """A pydantic model, any Python type, or a JSON schema."""
    wrapped_in: str | None
    """The parameter that holds a value without named fields; None if its fields are the
    parameters."""

    def declared(self) -> dict[str, Any]:
        """Return the parameters as a JSON schema."""
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
        """Return the value that a call passes, as JSON data without None values.

        Raises:
            ValueError: it doesn't fit the schema.
        """
        if not self.wrapped_in:
            return conformed(self.schema, args)
        if self.wrapped_in not in args and isinstance(self.schema, dict | types.Schema):
            # JSON schemas aren't enforced, so the answer would be null.
            raise ValueError(
                f"The parameter {self.wrapped_in!r}, which holds all of it, is missing."
            )
        return conformed(self.schema, args.get(self.wrapped_in))


def _with_properties(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a model, with the definition in place if it is only a reference.

    The schemas of recursive models are such references, and models reject parameters whose schema
    isn't visibly an object.
    """
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    defined = schema.get("$defs", {}).get(name)
    return {**defined, "$defs": schema["$defs"]} if defined else schema


REQUEST = "request"


def input_schema(agent: BaseAgent) -> type[BaseModel] | None:
    """Return the `input_schema` of the agent, or of the first one that a composite agent runs."""
    schema: type[BaseModel] | None = agent.input_schema
    if schema is not None or _speaks_for_itself(agent):
        return schema
    return input_schema(agent.sub_agents[0])


def output_schema(agent: BaseAgent) -> Any:
    """Return the `output_schema` of the agent, or of the last one that a composite agent runs."""
    if agent.output_schema is not None or _speaks_for_itself(agent):
        return agent.output_schema
    return output_schema(agent.sub_agents[-1])


def _speaks_for_itself(agent: BaseAgent) -> bool:
    # Looked up by name: `LlmAgent`, which has a model, is in a layer above the tools.
    return "model" in dict(agent) or not agent.sub_agents


def declared(agent: BaseAgent, name: str) -> types.FunctionDeclaration:
    """Return the agent's declaration, with its input schema's fields or `request` as parameters."""
    schema = input_schema(agent)
    parameters = {
        "type": "object",
        "properties": {REQUEST: {"type": "string"}},
        "required": [REQUEST],
    }
    return types.FunctionDeclaration(
        name=name,
        description=agent.description,
        parameters_json_schema=json_schema(schema) if schema else parameters,
    )


def as_message(agent: BaseAgent, args: dict[str, Any], *, dense: bool = True) -> types.Content:
    """Return the arguments of a call as the message for the agent.

    With an input schema it is JSON, either `dense` or with spaces (adk-runtime 8.7, 12.8).

    Raises:
        ValueError: they don't fit the agent's input schema.
    """
    schema = input_schema(agent)
    if schema is not None:
        values = schema.model_validate(args).model_dump(mode="json", exclude_none=True)
        separators = (",", ":") if dense else None
        text = json.dumps(values, ensure_ascii=False, separators=separators)
    elif REQUEST in args:
        text = str(args[REQUEST])
    else:
        text = json.dumps(args, ensure_ascii=False, sort_keys=True)
    return types.Content(role="user", parts=[types.Part(text=text)])


def misfit(error: ValueError) -> dict[str, str]:
    """Return the error that tells a model that its arguments don't fit."""
    message = message_of(error)
    return {"error": f"The arguments do not fit; correct them and call again.\n{message}"}


def as_text(content: types.Content | None, between: str = "\n") -> str:
    """Return the text, results and code in a content, without thoughts, joined by `between`."""
    parts = (content.parts if content else None) or []
    texts = [part_text(part) for part in parts if not part.thought]
    return between.join(text for text in texts if text)


def part_text(part: types.Part) -> str:
    """Return a part's text, code output or code, whichever comes first; otherwise an empty text."""
    if part.text:
        return part.text
    if part.code_execution_result and part.code_execution_result.output:
        return part.code_execution_result.output.rstrip("\n")
    return (part.executable_code and part.executable_code.code) or ""
