"""docs/guide/runtime.md names what is there, all of it, and its example runs."""

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
def test_the_page_names_all_of_a_package_and_nothing_else(package, names):
    assert names == set(import_module(package).__all__), "correct docs/guide/runtime.md"


@pytest.mark.parametrize(("module", "names"), rows(CHOSEN))
def test_what_the_page_names_is_there(module, names):
    missing = {name for name in names if not hasattr(import_module(module), name)}
    assert not missing, "correct docs/guide/runtime.md"


@pytest.mark.parametrize("package", [package for package, _ in rows(PAGE)])
def test_every_public_name_of_a_package_can_be_loaded(package):
    module = import_module(package)
    for name in getattr(module, "__all__", []):
        assert getattr(module, name) is not None


def example(text):
    """What the page's first example with `text` in it defines."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names = {}
    block = next(block for block in blocks if text in block)
    exec(compile(block, "runtime.md", "exec", dont_inherit=True), names)
    return names


def test_the_example_of_a_credential_makes_a_tool():
    declared = example("tool = ")["tool"]._get_declaration()
    assert list(declared.parameters_json_schema["properties"]) == ["folder"]


async def test_the_example_runs():
    names = example("root_agent = ")

    events = await InMemoryRunner(names["root_agent"]).run_debug("Rome?", quiet=True)

    assert events[-1].content.parts[0].text == "Sunny, 21 degrees. Take a hat."


async def test_the_example_of_a_step_of_ones_own_runs():
    model = ScriptedLlm(rules=[Rule(then=Say("Yes."))])
    agent = example("class Moody")["Moody"](name="moody", model=model, instruction="Answer.")

    await InMemoryRunner(agent).run_debug("So?", quiet=True)

    assert model.requests[0].config.system_instruction.startswith("Answer.\n\nBe kind.")
