"""Malformed calls, as small models write them, behind litellm."""

from functools import partial
from typing import Any

from tests.differential import differing_lite_llm as differing
from tests.differential.case import Case, add
from tests.differential.cases.lite_llm_requests import noting
from tests.differential.normal import Json

MODEL = "ollama_chat/llama3"
ARGUMENTS = {
    "in JSON": '{"a": 1}',
    "as Python writes them": "{'a': 1}",
    "with bare keys": "{a: 1}",
    "in a fence": '```json\n{"a": 1}\n```',
}
BROKEN = {"cut off": '{"a": ', "in a list": "[1]", "as nothing": "null"}
TEXTS = {
    "alone": '{"name": "look", "arguments": {"a": 1}, "id": "c1"}',
    "in words": 'So {x}: {"name": "look", "arguments": "{\\"a\\": 1}", "id": "c1"} there.',
}
OTHERS = {
    "a call of no tool": '{"name": "gone", "arguments": {"a": 1}, "id": "c1"}',
    "an object": '{"name": "Ann", "age": 7}',
    "braces": "a {b} {{c}",
}


def _calls(arguments: str) -> Json:
    function = {"name": "look", "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}


async def _play(stage: Any, answer: Json, words: str = "go") -> None:
    def look(a: int = 0) -> str:
        """Looks."""
        return f"seen {a}"

    model = stage.ns.LiteLlm(MODEL, llm_client=noting(stage, [answer]))
    await stage.open(stage.ns.LlmAgent(name="agent", model=model, tools=[look]))
    await stage.say(words)


for _how, _text in (ARGUMENTS | BROKEN).items():
    _differs = differing.UNTOLD
    _name = f"litellm gives arguments {_how}"
    add(Case(_name, partial(_play, answer=_calls(_text)), _differs, needs="litellm"))
for _how, _text in TEXTS.items():
    _name = f"litellm gives a call in a text, {_how}"
    add(Case(_name, partial(_play, answer={"content": _text}), differing.UNTOLD, needs="litellm"))
for _what, _text in OTHERS.items():
    _differs = differing.OTHER_CALLS if "call" in _what else differing.UNTOLD
    _name = f"litellm gives a text with {_what}"
    add(Case(_name, partial(_play, answer={"content": _text}), _differs, needs="litellm"))
_play_half = partial(_play, answer={"content": "fine"}, words="caf\udce9")
add(Case("litellm is told half of a character", _play_half, differing.HALVES, needs="litellm"))
