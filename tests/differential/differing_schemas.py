"""Intended differences in answer schemas, and the functions that remove them from a record."""

from typing import Any

from tests.differential.case import Difference


def _without_shapes(record: Any) -> Any:
    for request in record["requests"]:
        for tool in request["tools"]:
            tool.pop("parametersJsonSchema", None)
    return record


TYPES_OF_ANSWERS = Difference(
    "`typing.Dict` as an output schema",
    here="It works like `dict`; a model that doesn't support it says so when called.",
    there="It is rejected when the agent is created.",
    why="Models that accept a JSON schema support it.",
)
SHAPES_OF_ANSWERS = Difference(
    "JSON schemas as output schemas, with tools",
    here="`set_model_response` declares its parameter `response` with the output schema.",
    there="For an output schema that is a dict or `types.Schema`, it declares only an object.",
    why="The model must know what to fill in.",
    without=_without_shapes,
)
ANSWER_LEFT_OUT = Difference(
    "Calls of `set_model_response` without `response`, if the schema is a dict",
    here="The model is told that the parameter is missing, and may call again.",
    there="The result is null, and values in other parameters are lost.",
    why="A model can correct its own call.",
)
UNCHECKED_ANSWER = Difference(
    "Answers that don't match an output schema that is a type",
    here="They are validated against types such as `list[int]`, `dict[str, int]` and `Literal`,"
    " like models: ValueError says what is wrong. A number written as text is converted.",
    there="Any JSON is accepted; only models and lists of models are validated.",
    why="Code that reads the state relies on the requested type.",
)
TEXTS_ASKED_FOR = Difference(
    "Answers to an output schema for text",
    here="For `str`, and types that accept text, such as `int | str` and `Literal`, an answer that"
    " isn't JSON of the type is used as text: `7`, `Bern is a city.`",
    there="Any JSON goes to the state, so `7` is an int; without JSON the run fails.",
    why="Text was requested, and text was returned.",
)
VERTEX = Difference(
    "Tool declarations for Vertex AI",
    here="They are the same for both Gemini services.",
    there="With GOOGLE_GENAI_USE_VERTEXAI they also have the schema of the result, and `nullable`"
    " instead of a union with null.",
    why="They are JSON schemas, where a union with null is the usual form, and a tool's result is"
    " visible once it returns.",
)
VERTEX_BY_CLIENT = Difference(
    "An output schema with tools, if `client_kwargs` select Vertex AI",
    here="Both are sent: `Gemini(client_kwargs={'vertexai': True})` uses Vertex AI.",
    there="Both are sent only if GOOGLE_GENAI_USE_VERTEXAI selects it; otherwise the model answers"
    " by calling `set_model_response`.",
    why="The service accepts both, however it was selected.",
)
PRIVATE_PARAMETERS = Difference(
    "Parameters with an underscore and without a default",
    here="They are declared to the model. Those with a default are not.",
    there="Neither is declared.",
    why="A tool that requires an argument can't be called without it.",
    without=_without_shapes,
)
TYPED_ANSWERS = Difference(
    "Output schemas with defaults or Enum members",
    here="The state has the values as the type parses them, as JSON: defaults fill missing fields,"
    " 3 for a float is 3.0, and an Enum member is its value.",
    there="Only models are parsed that way, and Enum members are Python objects in the state.",
    why="Code that reads the state relies on the requested type, and state is JSON.",
)
DECLARED_ENUMS = Difference(
    "Enums and literals as output schemas, with tools",
    here="`set_model_response` declares the values directly at its parameter.",
    there="An Enum is declared by reference, a `Literal` as any object.",
    why="The model must know the values.",
)
