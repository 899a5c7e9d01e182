"""An agent with one tool, and a model whose answers are rules."""

from devui.runtime.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


def find_airports(city: str) -> list[str]:
    """Airports of a city."""
    return {"London": ["LHR", "LGW"]}[city]


def travel_agent(**fields):
    """Return an agent that says where to fly; `fields` replace its own."""
    rules = [
        Rule(user=r"to (?P<city>\w+)", then=Call("find_airports", city="{city}")),
        Rule(after="find_airports", then=Say("Fly to {result.0}, or to {result.1}.", chunks=3)),
        Rule(then=Say("Where to?")),
    ]
    fields = {
        "name": "travel",
        "model": ScriptedLlm(rules=rules),
        "tools": [find_airports],
    } | fields
    return LlmAgent(**fields)
