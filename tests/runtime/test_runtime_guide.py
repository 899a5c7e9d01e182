"""docs/guide/runtime.md lists names that exist, and its examples run."""

import re
from importlib import import_module

import pytest

from devui.runtime.models import Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from tests.source import ROOT

PAGE = (ROOT / "docs" / "guide" / "runtime.md").read_text(encoding="utf-8")
COMPLETE, CHOSEN = PAGE.split("From the packages with services and models:", 1)
ROW = re.compile(r"^\| `(devui\.runtime[\w.]*)` \|(.*)$", re.MULTILINE)


def rows(text):
    return [(module, set(re.findall(r"`(\w+)`", names))) for module, names in ROW.findall(text)]


@pytest.mark.parametrize(("package", "names"), rows(COMPLETE))
def test_the_page_lists_exactly_the_names_of_a_package(package, names):
    assert names == set(import_module(package).__all__), "correct docs/guide/runtime.md"


@pytest.mark.parametrize(("module", "names"), rows(CHOSEN))
def test_names_on_the_page_exist(module, names):
    missing = {name for name in names if not hasattr(import_module(module), name)}
    assert not missing, "correct docs/guide/runtime.md"


@pytest.mark.parametrize("package", [package for package, _ in rows(PAGE)])
def test_every_public_name_of_a_package_can_be_imported(package):
    module = import_module(package)
    for name in getattr(module, "__all__", []):
        assert getattr(module, name) is not None


def example(text):
    """Return the names defined by the page's first example that contains `text`."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names = {}
    block = next(block for block in blocks if text in block)
    exec(compile(block, "runtime.md", "exec", dont_inherit=True), names)
    return names


def test_the_example_of_a_credential_creates_a_tool():
    declared = example("tool = ")["tool"]._get_declaration()
    assert list(declared.parameters_json_schema["properties"]) == ["folder"]


async def test_the_example_runs():
    names = example("root_agent = ")

    events = await InMemoryRunner(names["root_agent"]).run_debug("Rome?", quiet=True)

    assert events[-1].content.parts[0].text == "Sunny, 21 degrees. Take a hat."


async def test_the_example_of_a_custom_step_runs():
    model = ScriptedLlm(rules=[Rule(then=Say("Yes."))])
    agent = example("class Moody")["Moody"](name="moody", model=model, instruction="Answer.")

    await InMemoryRunner(agent).run_debug("So?", quiet=True)

    assert model.requests[0].config.system_instruction.startswith("Answer.\n\nBe kind.")
