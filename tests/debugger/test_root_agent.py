"""What the source of an app says about its root agent."""

from pathlib import Path

import pytest

from devui.debugger.apps.root_agent import RootAgent, root_agent

FULL = """
from google.adk import Agent
MODEL = "gemini-2.5-flash"
helper = Agent(name="helper", tools=[one])
tools = [one, two, three]
travel = Agent(
    name="root", model=MODEL, description="Finds "
    "flights.", tools=tools, sub_agents=[helper],
)
root_agent = travel
"""
WHOLE = RootAgent("LlmAgent", "Finds flights.", "gemini-2.5-flash", 3, 1)


def described(folder: Path, **files: str) -> RootAgent | None:
    """Describe an app with these modules; `a__b` is `a/b.py`."""
    for name, text in files.items():
        file = folder / f"{name.replace('__', '/').replace('_init', '__init__')}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root_agent(folder)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (FULL, WHOLE),
        (FULL.replace("root_agent =", "app = App(root_agent=travel) #"), WHOLE),
        (
            "app = App(name='x', root_agent=SequentialAgent(name='s', sub_agents=[a, b]))",
            RootAgent("SequentialAgent", sub_agents=2),
        ),
        ("root_agent: Agent = agents.LlmAgent(name='a')", RootAgent("LlmAgent")),
        (
            "root_agent = Agent(name='a', model=LiteLlm(model='openai/gpt-x'))",
            RootAgent("LlmAgent", model="openai/gpt-x"),
        ),
    ],
)
def test_the_root_agent_is_read_from_the_source(tmp_path, source, expected):
    assert described(tmp_path, agent=source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("root_agent = Agent(model=pick(), description=f'For {who}')", RootAgent("LlmAgent")),
        ("root_agent = Agent(tools=[one, *more])", RootAgent("LlmAgent")),
        ("root_agent = make_agent(description='Mine')", None),
        ("root_agent = agents[0]", None),
        ("root_agent = root_agent", None),
        ("root_agent = Agent(", None),
        ("x = 1", None),
        ("", None),
    ],
)
def test_what_only_running_the_code_tells_is_left_out(tmp_path, source, expected):
    assert described(tmp_path, agent=source) == expected


def test_an_apps_own_imports_are_followed(tmp_path):
    files = {"flights__root": FULL, "flights___init": "from .root import root_agent as first"}
    source = "from .flights import first\nroot_agent = first"
    assert described(tmp_path, _init=source, **files) == WHOLE
    assert described(tmp_path, agent="from google.adk import root_agent", _init="") is None
    circle = {"agent": "from .other import root_agent", "other": "from .agent import root_agent"}
    assert described(tmp_path, **circle) is None


def test_the_source_is_read_again_when_it_changes(tmp_path):
    assert described(tmp_path, agent=FULL) == WHOLE
    changed = described(tmp_path, agent="root_agent = LoopAgent(name='loop')")
    assert changed == RootAgent("LoopAgent")


def test_a_yaml_file_is_read_too(tmp_path):
    (tmp_path / "root_agent.yaml").write_text(
        "# yaml-language-server: $schema=x\nagent_class: LlmAgent\nname: greeter\n"
        'model: gemini-2.5-flash\ndescription: "Greets people."\n'
        "instruction: |\n  model: none of this\n"
        "tools:\n  - name: one\n    args:\n      - name: x\n  - name: two\n"
        "sub_agents:\n- config_path: a.yaml\n"
    )
    expected = RootAgent("LlmAgent", "Greets people.", "gemini-2.5-flash", 2, 1)
    assert root_agent(tmp_path) == expected
