"""The examples of docs/guide/models.md do what the page says."""

import re

from devui.runtime.models import LLMRegistry, registry
from tests.source import ROOT

PAGE = ROOT / "docs" / "guide" / "models.md"
SCRIPTED, RESERVE, ECHO = re.findall(
    r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
)


def run(example):
    names = {}
    exec(compile(example, PAGE.name, "exec", dont_inherit=True), names)
    return names


def test_the_scripted_agent_calls_its_tool_and_answers():
    names = run(SCRIPTED)

    assert names["answer"] == "From LHR or LGW?"
    assert len(names["model"].requests) == 2


def test_fallback_models_are_named_after_the_first():
    assert run(RESERVE)["model"].model == "gemini-2.5-pro"


def test_a_custom_model_is_found_by_name(monkeypatch):
    monkeypatch.setattr(registry, "_classes", {**registry._classes})
    echo = run(ECHO)["Echo"]

    assert LLMRegistry.resolve("echo-1") is echo
