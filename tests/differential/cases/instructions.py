"""Instructions, settings of requests, structured answers."""

from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.script import Call, Say, call

TEMPLATES = {
    "a variable": "{name}",
    "variables of all scopes": "{name} {user:name} {app:name} {temp:name}",
    "a missing variable": "{missing}",
    "a missing optional variable": "[{missing?}]",
    "an optional variable": "[{name?}]",
    "a variable that is none": "[{none}]",
    "numbers and lists": "{number} {list} {dict}",
    "blanks inside": "{ name }",
    "double braces": "{{name}}",
    "triple braces": "{{{name}}}",
    "braces of JSON": '{"a": 1, "b": {"c": 2}}',
    "empty braces": "{} { }",
    "an expression": "{name.upper} {name + 1} {1}",
    "an unknown scope": "{other:name}",
    "a scope without a name": "{user:}",
    "an escaped brace": "\\{name} ${name}",
    "an artifact": "{artifact.note.txt}",
    "a missing artifact": "{artifact.none.txt}",
    "a missing optional artifact": "[{artifact.none.txt?}]",
    "an unclosed brace": "{name and {number",
    "an unfinished brace": "name} and {",
}
STATE = {
    "name": "Ann",
    "user:name": "Uma",
    "app:name": "App",
    "none": None,
    "number": 3,
    "list": [1, "x"],
    "dict": {"a": 1},
    "braces": "{number}",
}


async def _templating(stage, template):
    agent = stage.agent("agent", "Ok.", "Ok.", instruction=f"Case: {template}")
    await stage.open(agent, state=STATE)
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    part = types.Part(text="a note")
    await stage.runner.artifact_service.save_artifact(**where, filename="note.txt", artifact=part)
    await stage.say("go", state_delta={"temp:name": "Tim"})


for _name, _template in TEMPLATES.items():
    add(Case(f"an instruction with {_name}", partial(_templating, template=_template)))


@case()
async def values_are_not_filled_again(stage):
    await stage.open(stage.agent("agent", "Ok.", instruction="Case: {braces}"), state=STATE)
    await stage.say()


@case()
async def an_instruction_is_a_function(stage):
    def instruct(context) -> str:
        return f"Case: {context.agent_name} {{name}} {context.state['name']}"

    async def instruct_all(context) -> str:
        return "Case: all"

    agent = stage.agent(
        "agent", "Ok.", instruction=instruct, global_instruction=instruct_all, description="It."
    )
    await stage.open(agent, state=STATE)
    await stage.say()


@case()
async def an_instruction_function_raises(stage):
    def instruct(context) -> str:
        raise KeyError("boom")

    await stage.open(stage.agent("agent", "Ok.", instruction=instruct))
    await stage.say()


@case()
async def a_static_instruction_moves_the_other_to_the_contents(stage):
    agent = stage.agent(
        "agent",
        "Ok.",
        "Ok.",
        static_instruction="Case: static {name}",
        instruction="Case: {name}",
    )
    await stage.open(agent, state=STATE)
    await stage.say()
    await stage.say("again")


@case()
async def a_static_instruction_alone(stage):
    await stage.open(stage.agent("agent", "Ok.", static_instruction="Case: static"))
    await stage.say()


@case()
async def settings_of_an_agent_reach_the_request(stage):
    config = types.GenerateContentConfig(temperature=0.5, max_output_tokens=9, top_k=3)
    agent = stage.agent("agent", "Ok.", "Ok.", generate_content_config=config)
    await stage.open(agent)
    await stage.say()
    options = types.HttpOptions(headers={"x-a": "1"}, timeout=5000)
    run = stage.ns.RunConfig(http_options=options, labels={"team": "a"})
    await stage.say("again", run_config=run)


# Structured answers


class City(BaseModel):
    """A city."""

    name: str
    people: int | None = None


SCHEMAS: dict[str, tuple[Any, str]] = {
    "a model": (City, '{"name": "Bern", "people": 1}'),
    "a model with nothing for a field": (City, '{"name": "Bern", "people": null}'),
    "a model in a code fence": (City, '```json\n{"name": "Bern"}\n```'),
    "a model that does not fit": (City, '{"people": 1}'),
    "no JSON": (City, "Bern is a city."),
    "a list of models": (list[City], '[{"name": "Bern"}, {"name": "Rom"}]'),
    "a list of texts": (list[str], '["a", "b"]'),
    "a text": (str, '"a"'),
    "a blank answer": (City, "  "),
    "a dict schema": ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": 1}'),
    "a genai schema": (types.Schema(type="OBJECT"), '{"a": 1}'),
}


async def _structured(stage, schema, text):
    agent = stage.agent("agent", text, "Ok.", output_schema=schema, output_key="out")
    await stage.open(agent)
    await stage.say()


for _name, (_schema, _text) in SCHEMAS.items():
    add(Case(f"an output schema gets {_name}", partial(_structured, schema=_schema, text=_text)))


@case()
async def an_output_schema_without_key(stage):
    await stage.open(stage.agent("agent", '{"name": "Bern"}', output_schema=City))
    await stage.say()


@case()
async def an_output_schema_with_tools(stage):
    def look() -> str:
        """Looks."""
        return "ok"

    answers = [
        call("look"),
        Call("set_model_response", {"people": "many"}),
        Call("set_model_response", {"name": "Bern", "people": 2}),
    ]
    agent = stage.agent("agent", *answers, tools=[look], output_schema=City, output_key="out")
    await stage.open(agent)
    await stage.say()


@case()
async def an_output_schema_of_a_list_with_tools(stage):
    def look() -> str:
        """Looks."""
        return "ok"

    answers = [Call("set_model_response", {"items": [{"name": "Bern"}]})]
    agent = stage.agent("agent", *answers, tools=[look], output_schema=list[City], output_key="out")
    await stage.open(agent)
    await stage.say()


@case()
async def an_output_schema_with_tools_answered_by_text(stage):
    def look() -> str:
        """Looks."""
        return "ok"

    agent = stage.agent(
        "agent", Say('{"name": "Bern"}'), tools=[look], output_schema=City, output_key="out"
    )
    await stage.open(agent)
    await stage.say()
