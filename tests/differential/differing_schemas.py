"""Where schemas of answers are meant to differ, and what is left of a record without that."""

from typing import Any

from tests.differential.case import Difference


def _without_shapes(record: Any) -> Any:
    for request in record["requests"]:
        for tool in request["tools"]:
            tool.pop("parametersJsonSchema", None)
    return record


TYPES_OF_ANSWERS = Difference(
    "`typing.Dict` as the shape of an answer",
    here="It is taken as `dict` is; a model that cannot answer in that shape says so when it is"
    " asked.",
    there="It is refused when the agent is made.",
    why="Models that take a JSON schema can answer in it.",
)
SHAPES_OF_ANSWERS = Difference(
    "JSON schemas of answers, beside tools",
    here="`set_model_response` declares its parameter `response` by the output schema.",
    there="Of an output schema that is a dict or a `types.Schema` it says only that the answer is"
    " an object.",
    why="The model must know what to fill in.",
    without=_without_shapes,
)
ANSWER_LEFT_OUT = Difference(
    "Calls of `set_model_response` without `response`, where the schema is a dict",
    here="The model is told that the parameter is missing, and may call again.",
    there="The result is null, and what the model has answered in other parameters is lost.",
    why="A model can mend the call that it has written.",
)
UNCHECKED_ANSWER = Difference(
    "Answers that do not fit an output schema that is a type",
    here="They are checked against types such as `list[int]`, `dict[str, int]` and `Literal`, as"
    " against models: ValueError says what is wrong. A number written as a text becomes one.",
    there="Any JSON is taken; only models and lists of models are checked.",
    why="Code that reads the state relies on the type that was asked for.",
)
TEXTS_ASKED_FOR = Difference(
    "Answers to an output schema that is a text",
    here="For `str`, and for what else takes the text as it is, such as `int | str` and `Literal`,"
    " an answer that is no JSON of the type is the text itself: `7`, `Bern is a city.`",
    there="Whatever JSON it is goes to the state, so `7` is an int; without JSON the run ends in"
    " an error.",
    why="A text was asked for, and there it is.",
)
VERTEX = Difference(
    "Declarations of tools for Vertex AI",
    here="They are the same for both services of Gemini.",
    there="With GOOGLE_GENAI_USE_VERTEXAI they also have the schema of the result, and `nullable`"
    " in the place of a union with null.",
    why="They are JSON schemas, in which a union with null is the usual form; and what a tool"
    " returns is seen when it does.",
)
VERTEX_BY_CLIENT = Difference(
    "A schema of the answer beside tools, where `client_kwargs` choose Vertex AI",
    here="Both are sent: `Gemini(client_kwargs={'vertexai': True})` asks Vertex AI.",
    there="That is done only if GOOGLE_GENAI_USE_VERTEXAI chooses it; else the model answers with a"
    " call of `set_model_response`.",
    why="It is the service that is asked that takes both, whatever chose it.",
)
PRIVATE_PARAMETERS = Difference(
    "Parameters with an underscore and without a default",
    here="They are declared to the model. One that has a default is not.",
    there="Neither is declared.",
    why="A tool that needs an argument cannot be called without it.",
    without=_without_shapes,
)
TYPED_ANSWERS = Difference(
    "Answers in a shape that has defaults or members of an Enum",
    here="The state has them as the type reads them, as JSON: defaults stand in the places of"
    " missing fields, 3 for a float is 3.0, and a member of an Enum is its value.",
    there="Only models are read so, and members of an Enum are Python objects in the state.",
    why="Code that reads the state relies on the type that was asked for, and state is JSON.",
)
DECLARED_ENUMS = Difference(
    "Enums and literals as the shape of an answer, beside tools",
    here="`set_model_response` declares the values right at its parameter.",
    there="An Enum is declared by a reference; a `Literal` as an object of any kind.",
    why="The model has to know which values there are.",
)
