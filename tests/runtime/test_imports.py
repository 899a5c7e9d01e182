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


def test_every_package_can_be_imported_first():
    code = "import sys, importlib; importlib.import_module(sys.argv[1])"
    failed = {
        name: result.stderr[-500:]
        for name in [*packages(), "devui.runtime.agents.llm_agent", "devui.runtime.runners"]
        if (
            result := subprocess.run([sys.executable, "-c", code, name], capture_output=True)
        ).returncode
    }
    assert not failed


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
