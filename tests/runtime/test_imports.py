"""Any module of the runtime can be the first one imported: there are no rings."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import devui.runtime
import devui.runtime.agents

ROOT = Path(devui.runtime.__file__).parent


def packages() -> list[str]:
    found = {path.parent for path in ROOT.rglob("*.py")}
    return sorted(
        ".".join(("devui", "runtime", *folder.relative_to(ROOT).parts)) for folder in found
    )


IMPORT_EACH = """
import importlib
import os
import sys
import traceback

import google.genai.types  # not ours, and most of the time that an import takes

assert not [name for name in sys.modules if name.startswith("devui")]
for name in sys.argv[1:]:
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        continue
    try:
        importlib.import_module(name)
    except BaseException:
        print(name, traceback.format_exc(limit=-2), sep=": ", flush=True)
    os._exit(0)
print("all were tried")
"""


def test_modules_are_attributes_of_their_packages():
    code = (
        "import devui.runtime as adk\nprint(adk.agents.llm_agent.LlmAgent, adk.tools.function_tool)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "agents.llm_agent.LlmAgent" in told.stdout


def test_every_package_can_be_imported_first():
    names = [*packages(), "devui.runtime.agents.llm_agent", "devui.runtime.runners"]
    command = [sys.executable, "-c", IMPORT_EACH, *names]
    tried = subprocess.run(command, capture_output=True, text=True, check=True)
    assert tried.stdout == "all were tried\n"


@pytest.mark.parametrize("package", [devui.runtime, devui.runtime.agents])
def test_lazy_names_are_all_there_and_no_others(package):
    tree = ast.parse(Path(package.__file__).read_text())
    checked = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.col_offset
        for alias in node.names
    }
    assert checked == set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name).__module__.startswith("devui.runtime")
    with pytest.raises(AttributeError, match="'nonsense'"):
        _ = package.nonsense
