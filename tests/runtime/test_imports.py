"""Any module of the runtime can be imported first: there are no import cycles."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import devui.runtime
import devui.runtime.agents
from devui.runtime import left_out
from tests.kit.oracle import run_adk

ROOT = Path(devui.runtime.__file__).parent


def packages() -> list[str]:
    folders = {path.parent for path in ROOT.rglob("*.py")}
    return sorted(
        ".".join(("devui", "runtime", *folder.relative_to(ROOT).parts)) for folder in folders
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
    assert "agents.llm_agent.LlmAgent" in output_of(code)


BORROWED = """
import importlib, pkgutil, json, types, warnings
warnings.simplefilter("ignore")
import google.adk

LEFT = ("cli", "evaluation", "a2a", "labs", "integrations", "live", "optimization")
found = set()
for info in pkgutil.walk_packages(google.adk.__path__, "google.adk.", lambda name: None):
    below = info.name.removeprefix("google.adk.")
    if below.partition(".")[0] in LEFT or "._" in f".{below}":
        continue
    try:
        module = importlib.import_module(info.name)
    except BaseException:
        continue
    for name, value in vars(module).items():
        if isinstance(value, type) and value.__module__.startswith("google.adk."):
            found.add(f"{below}.{name}")
print(json.dumps(sorted(found)))
"""
"""A program that prints the classes in google-adk's modules, by their path below `google.adk`."""


@pytest.mark.slow
def test_classes_can_be_imported_from_where_google_adk_imports_them():
    """Checks only classes and modules that exist here: `from ...llm_agent import ToolContext`."""
    missing = []
    for path in json.loads(run_adk(BORROWED)):
        module, _, name = path.rpartition(".")
        at_home = left_out._homes().get(name)
        if not at_home or any(each.covers(path) for each in left_out.TABLE):
            continue
        try:
            borrower = importlib.import_module(f"devui.runtime.{module}")
        except ImportError:
            continue
        if getattr(borrower, name, None) is None:  # plugins write `base_plugin.BaseTool`
            missing.append(path)
        namespace: dict[str, object] = {}
        try:
            exec(f"from {borrower.__name__} import {name}", namespace)
        except ImportError:
            missing.append(path)
        else:
            assert namespace[name] is getattr(importlib.import_module(at_home), name), path
    assert not missing, "put these into devui/runtime/import_paths.py"


def output_of(code: str, *arguments: str) -> str:
    """Return what a program prints; fail if it prints errors."""
    command = [sys.executable, "-c", code, *arguments]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not process.stderr
    return process.stdout


def test_a_borrowed_name_is_the_class_itself():
    code = (
        "from devui.runtime.agents.llm_agent import CallbackContext, LlmRequest, ToolContext\n"
        "from devui.runtime.tools import function_tool\n"
        "from devui.runtime.tools.function_tool import ToolContext as Other\n"
        "print(ToolContext is Other is function_tool.ToolContext, LlmRequest.__module__)"
    )
    assert output_of(code) == "True devui.runtime.models.llm_request\n"


def test_a_borrowed_name_is_an_attribute_and_unknown_names_are_not():
    code = (
        "from devui.runtime.plugins import base_plugin\n"
        "print(base_plugin.CallbackContext.__name__, hasattr(base_plugin, 'Nobody'))"
    )
    assert output_of(code) == "Context False\n"


def test_names_that_most_modules_import_can_be_imported_from_them():
    code = (
        "from google.genai import types as at_home\n"
        "from devui.runtime.agents.llm_agent import logger, types\n"
        "from devui.runtime.tools.base_toolset import override, types as other\n"
        "from devui.runtime.workflow._errors import WorkflowConfigurationError\n"
        "print(types is at_home is other, logger.name, WorkflowConfigurationError.__module__)"
    )
    assert output_of(code) == "True devui.runtime.agents.llm_agent devui.runtime.workflow.errors\n"


def test_users_packages_with_the_same_names_do_not_affect_the_runtime(tmp_path):
    (tmp_path / "tools").mkdir()
    code = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
        "import devui.runtime.tools\n"
        "try:\n    import tools.logger\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
        "print(hasattr(devui.runtime.tools, 'logger'))"
    )
    assert output_of(code) == "No module named 'tools.logger'\nFalse\n"


LOGGED = """
import logging, os, sys, tempfile
from devui.runtime.cli.utils import envs, logs

tempfile.tempdir = folder = sys.argv[1]
path = logs.log_to_tmp_folder(log_file_timestamp="now")
logging.getLogger("devui.runtime").info("for the file")
os.makedirs(folder + "/agents/one")
for place, text in (("agents/one", "DEVUI_A=one"), ("agents", "DEVUI_A=other\\nDEVUI_B=env\\n")):
    open(f"{folder}/{place}/.env", "w").write(text)
os.environ["DEVUI_B"] = "given"
envs.load_dotenv_for_agent("one", folder + "/agents")
first = os.environ["DEVUI_A"]
envs.load_dotenv_for_agent("two", folder + "/agents")
print(first, os.environ["DEVUI_A"], os.environ["DEVUI_B"])
print(path, open(path).read().count("for the file"))
"""


def test_logs_and_environment_are_set_up_as_in_google_adks_samples(tmp_path):
    path = tmp_path / "agents_log" / "agent.now.log"
    output = f"Logs go to {path}\none other given\n{path} 1\n"
    assert output_of(LOGGED, str(tmp_path)) == output


def test_every_package_can_be_imported_first():
    names = [*packages(), "devui.runtime.agents.llm_agent", "devui.runtime.runners"]
    assert output_of(IMPORT_EACH, *names) == "all were tried\n"


@pytest.mark.parametrize("package", [devui.runtime, devui.runtime.agents])
def test_lazy_names_are_exactly_the_exported_ones(package):
    tree = ast.parse(Path(package.__file__).read_text())
    lazy_names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.col_offset
        for alias in node.names
    }
    assert lazy_names == set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name).__module__.startswith("devui.runtime")
    with pytest.raises(AttributeError, match="'nonsense'"):
        _ = package.nonsense
