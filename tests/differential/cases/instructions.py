"""Instructions, request settings and structured answers."""

import typing
from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.differing import BAD_ANSWER
from tests.differential.differing_files import PICTURES
from tests.differential.differing_schemas import (
    ANSWER_LEFT_OUT,
    SHAPES_OF_ANSWERS,
    TEXTS_ASKED_FOR,
    TYPES_OF_ANSWERS,
    UNCHECKED_ANSWER,
)
from tests.differential.differing_sharing import ADDED_TO_STRUCTURE
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


STATIC: dict[str, Any] = {
    "text": "Case: static",
    "a part": types.Part(text="Case: static"),
    "texts": ["Case: static", "Case: more"],
    "a content": types.Content(role="user", parts=[types.Part(text="Case: static")]),
    "a picture": [
        types.Part(text="Case: look"),
        types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png")),
    ],
    "a file elsewhere": [
        types.Part(text="Case: read"),
        types.Part(file_data=types.FileData(file_uri="gs://a/b.pdf", mime_type="application/pdf")),
    ],
}


def look() -> str:
    """Looks."""
    return "ok"


async def _static(stage, instruction, dynamic):
    child = stage.agent("child", call("look"), "I am the child.", "Still me.", tools=[look])
    fields = {"instruction": "Case: {name}"} if dynamic else {}
    child.static_instruction = instruction
    child.instruction = fields.get("instruction", "")
    root = stage.agent(
        "root",
        call("look"),
        "Hello.",
        call("transfer_to_agent", agent_name="child"),
        static_instruction=instruction,
        tools=[look],
        sub_agents=[child],
        **fields,
    )
    await stage.open(root, state=STATE)
    context = [types.Content(role="user", parts=[types.Part(text="Case: context")])]
    await stage.say()
    await stage.say("again", run_config=stage.ns.RunConfig(model_input_context=context))
    await stage.stream("more")


for _name, _instruction in STATIC.items():
    for _dynamic in (False, True):
        add(
            Case(
                f"a static instruction of {_name}{' and another' if _dynamic else ''}",
                partial(_static, instruction=_instruction, dynamic=_dynamic),
            )
        )


@case()
async def context_of_a_run_and_a_tool_and_a_history(stage):
    context = [types.Content(role="user", parts=[types.Part(text="Case: context")])]
    answers = "Hello.", call("look"), "Ok.", call("look"), "Ok."
    agent = stage.agent("agent", *answers, tools=[look], instruction="Case: own")
    await stage.open(agent)
    config = stage.ns.RunConfig(model_input_context=context)
    for _ in range(3):
        await stage.say("the same", run_config=config)


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
    "a model in a code fence of one line": (City, '```json {"name": "Bern"}```'),
    "a model in a code fence of another kind": (City, '```js\n{"name": "Bern"}\n```'),
    "a model with words around": (City, 'Here: {"name": "Bern"}'),
    "a list of models": (list[City], '[{"name": "Bern"}, {"name": "Rom"}]'),
    "a list of texts": (list[str], '["a", "b"]'),
    "a text": (str, '"a"'),
    "a text without quotation marks": (str, "Bern is a city."),
    "a number for a text": (str, "7"),
    "a dict for a text": (str, '{"a": 1}'),
    "a word without quotation marks": (typing.Literal["yes", "no"], "yes"),
    "a text or a number without quotation marks": (int | str, "seven"),
    "a text or nothing": (str | None, "null"),
    "a dict": (dict[str, int], '{"a": 1}'),
    "a list of something else": (list[int], '["a"]'),
    "a dict of something else": (dict[str, int], '{"a": "x"}'),
    "a word that is none of those allowed": (typing.Literal["yes", "no"], '"maybe"'),
    "a number written as a text": (int, '"1"'),
    "a blank answer": (City, "  "),
    "a dict schema": ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": 1}'),
    "a genai schema": (types.Schema(type="OBJECT"), '{"a": 1}'),
}


async def _structured(stage, schema, text):
    agent = stage.agent("agent", text, "Ok.", output_schema=schema, output_key="out")
    await stage.open(agent)
    await stage.say()


UNFIT = {
    "a model that does not fit": BAD_ANSWER,
    "no JSON": BAD_ANSWER,
    "a model with words around": BAD_ANSWER,
    "a text without quotation marks": TEXTS_ASKED_FOR,
    "a number for a text": TEXTS_ASKED_FOR,
    "a dict for a text": TEXTS_ASKED_FOR,
    "a word without quotation marks": TEXTS_ASKED_FOR,
    "a text or a number without quotation marks": TEXTS_ASKED_FOR,
    "a list of something else": UNCHECKED_ANSWER,
    "a dict of something else": UNCHECKED_ANSWER,
    "a word that is none of those allowed": UNCHECKED_ANSWER,
    "a number written as a text": UNCHECKED_ANSWER,
}
for _name, (_schema, _text) in SCHEMAS.items():
    add(
        Case(
            f"an output schema gets {_name}",
            partial(_structured, schema=_schema, text=_text),
            UNFIT.get(_name),
        )
    )


@case(differs=TYPES_OF_ANSWERS)
async def an_output_schema_of_the_typing_module(stage):
    schema = typing.Dict[str, int]  # noqa: UP006  much code still uses it
    try:
        agent = stage.agent("agent", '{"a": 1}', output_schema=schema, output_key="out")
    except ValueError:
        stage.note("refused", "Dict")
        return
    await stage.open(agent)
    await stage.say()


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


CITY: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
CALLED: dict[str, tuple[Any, dict[str, Any]]] = {
    "a list of models": (list[City], {"items": [{"name": "Bern"}]}),
    "a list of texts": (list[str], {"response": ["Bern"]}),
    "a dict of numbers": (dict[str, int], {"response": {"Bern": 1}}),
    "a number": (int, {"response": 1}),
    "a dict schema": (CITY, {"response": {"name": "Bern"}}),
    "a dict schema of a list": ({"type": "array", "items": CITY}, {"response": [{"name": "Bern"}]}),
    "a genai schema": (types.Schema(type="OBJECT"), {"response": {"name": "Bern"}}),
}


async def _called(stage, schema, args):
    def look() -> str:
        """Looks."""
        return "ok"

    answers = [Call("set_model_response", args)]
    agent = stage.agent("agent", *answers, tools=[look], output_schema=schema, output_key="out")
    await stage.open(agent)
    await stage.say()


for _name, (_schema, _args) in CALLED.items():
    _play = partial(_called, schema=_schema, args=_args)
    _differs = SHAPES_OF_ANSWERS if "schema" in _name else None
    add(Case(f"an output schema with tools gets {_name}", _play, _differs))


@case(differs=ANSWER_LEFT_OUT)
async def an_output_schema_with_tools_is_answered_without_the_parameter(stage):
    def look() -> str:
        """Looks."""
        return "ok"

    answers = Call("set_model_response", {"name": "Bern"}), '{"name": "Basel"}'
    agent = stage.agent("agent", *answers, tools=[look], output_schema=CITY, output_key="out")
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


JINJA = {
    "a variable": "{{ name }} {{ number + 1 }}",
    "a loop and a condition": "{% for x in list %}{{ x }};{% endfor %}{% if none %}x{% endif %}",
    "a key of another scope": "{{ state['user:name'] }} {{ state.get('missing', '-') }}",
    "a missing variable": "{{ missing }}",
    "a missing variable that has a default": "{{ missing | default('-') }}",
    "markup": "{{ '<b>' }} {name}",
    "an artifact": "{{ artifact('note.txt') }}",
    "a missing artifact": "{{ artifact('none.txt') }}",
    "a mistake": "{% if %}",
    "a way out": "{{ name.__class__.__mro__ }}",
    "a change of the state": "{{ state.update({'name': 'Eve'}) }}",
}


async def _jinja(stage, template):
    async def instruct(context) -> str:
        inject = stage.ns.inject_session_state
        try:
            return await inject(f"Case: {template}", context, use_jinja2=True)
        except Exception as error:  # noqa: BLE001  the type is compared
            stage.note(type(error).__name__)
            return "Case: failed"

    await stage.open(stage.agent("agent", "Ok.", instruction=instruct), state=STATE)
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    part = types.Part(text="a note")
    await stage.runner.artifact_service.save_artifact(**where, filename="note.txt", artifact=part)
    await stage.say()


for _name, _template in JINJA.items():
    add(Case(f"a Jinja template with {_name}", partial(_jinja, template=_template)))


FILES = {
    "JSON": ("data.json", b'{"a": 1}', "application/json"),
    "text of an unknown type": ("table.csv", b"a,b\n1,2", "application/octet-stream"),
    "a drawing": ("a.svg", b"<svg/>", "image/svg+xml"),
}


async def _file(stage, file):
    name, data, kind = file
    agent = stage.agent("agent", "Ok.", instruction=f"Case: {{artifact.{name}}}")
    await stage.open(agent)
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    part = types.Part.from_bytes(data=data, mime_type=kind)
    await stage.runner.artifact_service.save_artifact(**where, filename=name, artifact=part)
    await stage.say()


for _name, _given in FILES.items():
    add(Case(f"an instruction with a file of {_name}", partial(_file, file=_given)))

_picture = ("a.png", b"png", "image/png")
add(Case("an instruction with a picture", partial(_file, file=_picture), differs=PICTURES))


async def _structured(stage, form):
    """Append a text to a structured system instruction, as a callback or tool may set it."""
    request = stage.ns.LlmRequest()
    request.config.system_instruction = form
    request.append_instructions(["added"])
    stage.note(request.model_dump(mode="json", exclude_none=True))


for _name, _form in {
    "a content": types.Content(role="user", parts=[types.Part(text="first")]),
    "a list": ["first", types.Part(text="second")],
    "a part": types.Part(text="first"),
}.items():
    add(
        Case(
            f"something is added to a system instruction that is {_name}",
            partial(_structured, form=_form),
            differs=ADDED_TO_STRUCTURE,
        )
    )
