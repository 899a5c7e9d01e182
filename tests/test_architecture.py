"""Dependencies point one way: who may import whom, and what each column must never load.

docs/architecture.md draws the picture. Every import counts, also those only for type checkers,
except on the floors in READS_TYPES.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.kit.patience import PATIENCE
from tests.source import ROOT, Module, modules

FLOORS: dict[str, set[str]] = {
    "devui": set(),
    "settings": {"devui", "wire"},
    "address": set(),
    "keys": {"address"},
    "failures": set(),
    "interpreter": set(),
    "client": {"address", "failures", "keys"},
    "mcp": {"devui", "client", "failures", "wire"},
    "wire": set(),
    "adk_options": set(),
    "store": {"address", "keys", "wire"},
    "runtime": set(),
    "worker": {"devui", "runtime", "wire"},
    "testing": {"interpreter", "runtime", "wire", "worker"},
    "hosting": {"wire", "worker"},
    "debugger": {"devui", "interpreter", "settings", "store", "wire"},
    "web": {"devui", "interpreter", "settings", "debugger", "store", "wire"},
    "cli": {
        "devui",
        "adk_options",
        "address",
        "client",
        "failures",
        "interpreter",
        "keys",
        "settings",
        "web",
        "debugger",
        "store",
        "wire",
    },
    "fast_api": {"devui", "adk_options", "settings", "web", "debugger", "store", "wire"},
    "runtime.cli": {
        "fast_api",
        "runtime",
    },  # where google-adk has it, for a user's main.py: nothing here loads it
    "__main__": {"cli"},
}
"""The floors that a floor may import besides itself (`devui`: the package itself, its version)."""

READS_TYPES = {"client", "mcp"}
"""Floors that may import the types of the endpoints' arguments and answers for type checkers.

Nothing of the server is loaded for that.
"""

SERVER_COLUMN = {
    "address",
    "adk_options",
    "client",
    "failures",
    "interpreter",
    "keys",
    "mcp",
    "settings",
    "wire",
    "store",
    "debugger",
    "web",
    "cli",
    "fast_api",
    "__main__",
}
WORKER_COLUMN = {"interpreter", "wire", "runtime", "worker", "testing", "hosting"}

NEVER_IN_SERVER = ("google", "devui.runtime", "devui.worker")
"""So the server starts in a fraction of a second, and no agent's code can harm it."""

NEVER_IN_WORKER = ("starlette", "uvicorn", "jinja2", "aiosqlite", "click", "watchfiles")
"""So the worker runs in the interpreter of the agents' author, where these may be missing."""

OPTIONAL = (
    "devui.debugger.adk_imports.remote",
    "devui.mcp.protocol",
    "devui.runtime.a2a",
    "devui.runtime.agents.remote_a2a_agent",
    "devui.runtime.auth.token_endpoint",
    "devui.runtime.jinja_templates",
    "devui.runtime.models.lite_llm",
    "devui.runtime.telemetry.figures",
    "devui.runtime.telemetry.inference",
    "devui.runtime.telemetry.instruments",
    "devui.runtime.telemetry.inference",
    "devui.runtime.telemetry.tools",
    "devui.runtime.telemetry.tools",
    "devui.runtime.tools.mcp_tool",
    "devui.runtime.yaml_parser",
    "devui.runtime.agents.mcp_instruction_provider",
    "devui.worker.engines.adk",
    "devui.worker.telemetry_exporters",
)
"""Modules that are loaded late, as the package they need may be missing or import anything."""


@dataclass(frozen=True, slots=True)
class Import:
    """One name that one module imports."""

    module: Module
    node: ast.Import | ast.ImportFrom
    target: str
    for_types_only: bool

    @property
    def place(self) -> str:
        return self.module.place(self.node)


def targets(module: Module, node: ast.Import | ast.ImportFrom, ours: set[str]) -> Iterator[str]:
    """Yield the modules that a statement names; `from package import module` names the module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        parts = module.name.split(".")
        above = parts[: len(parts) - node.level + module.is_package]
        base = ".".join([*above, base] if base else above)
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        yield inner if inner in ours else base


def imports_of(module: Module, ours: set[str]) -> Iterator[Import]:
    """Yield every import in a module, at any level."""
    typing_only = {
        id(inner)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for target in targets(module, node, ours):
                yield Import(module, node, target, id(node) in typing_only)


def floor_of(name: str) -> str:
    """Return the floor of one of our modules, from its dotted name."""
    parts = name.split(".")
    if parts[1:3] == ["runtime", "cli"]:
        return "runtime.cli"
    return parts[1] if len(parts) > 1 else parts[0]


@cache
def all_imports() -> list[Import]:
    package = modules("devui")
    ours = {module.name for module in package}
    return [one for module in package for one in imports_of(module, ours)]


def starts_with(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def test_every_module_stands_on_a_known_floor() -> None:
    unknown = [m.path for m in modules("devui") if floor_of(m.name) not in FLOORS]
    assert not unknown, f"give these a floor in FLOORS: {unknown}"


def test_no_module_needs_an_optional_one() -> None:
    wrong = [
        f"{edge.place}: imports {edge.target}, which needs an extra"
        for edge in all_imports()
        if starts_with(edge.target, OPTIONAL)
        and not starts_with(edge.module.name, OPTIONAL)
        and not edge.for_types_only  # nothing is loaded for a type
    ]
    assert not wrong, "\n".join(wrong)


def test_floors_import_only_what_lies_below_them() -> None:
    wrong = []
    for edge in all_imports():
        if not starts_with(edge.target, ("devui",)):
            continue
        floor, other = floor_of(edge.module.name), floor_of(edge.target)
        if edge.for_types_only and floor in READS_TYPES:
            continue
        if other != floor and other not in FLOORS[floor]:
            allowed = ", ".join(sorted(FLOORS[floor])) or "nothing else of ours"
            wrong.append(f"{edge.place}: {floor} imports {edge.target}; it may import {allowed}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("column", "never"), [(SERVER_COLUMN, NEVER_IN_SERVER), (WORKER_COLUMN, NEVER_IN_WORKER)]
)
def test_neither_column_names_a_package_of_the_other(
    column: set[str], never: tuple[str, ...]
) -> None:
    wrong = [
        f"{edge.place}: imports {edge.target}, which this column must never load"
        for edge in all_imports()
        if floor_of(edge.module.name) in column
        and starts_with(edge.target, never)
        and not starts_with(edge.module.name, OPTIONAL)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_imports_stand_at_the_top_of_a_module() -> None:
    wrong = [
        f"{function.module.place(node)}: import inside {function.name}; move it to the top"
        for module in modules("devui")
        for function in module.functions()
        for node in ast.walk(function.node)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_imports_are_absolute() -> None:
    wrong = [
        f"{edge.place}: relative import; write it as {edge.target}"
        for edge in all_imports()
        if isinstance(edge.node, ast.ImportFrom) and edge.node.level
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_modules_import_each_other_in_a_ring() -> None:
    ours = {module.name for module in modules("devui")}
    graph: dict[str, set[str]] = {name: set() for name in ours}
    for edge in all_imports():
        if edge.target in ours and edge.target != edge.module.name and not edge.for_types_only:
            graph[edge.module.name].add(edge.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a ring of imports: " + " -> ".join(reversed(error.args[1])))


WHAT_ACTS = (
    "devui.debugger.runs.registry",
    "devui.store.sqlite.database",
    "devui.store.journal",
    "devui.web.render",
    "devui.web.services",
)
"""Modules that read the journal or carry out commands."""

DRAWN_FROM_VALUES = (
    "devui.web.panels.chat.content",
    "devui.web.panels.inspector.edits",
    "devui.web.panels.timeline.rows",
)
MOST_OF_ROWS = 31
"""The most modules that the timeline's rows may depend on, apart from the packages around them."""


def test_parts_and_what_draws_them_need_nothing_that_acts() -> None:
    """Template values, rows and messages are made from values alone."""
    graph: dict[str, set[str]] = {module.name: set() for module in modules("devui")}
    for edge in all_imports():
        graph[edge.module.name] |= {edge.target} & graph.keys()
    parts = [name for name in graph if starts_with(name, ("devui.web.panels",))]
    pure = [*DRAWN_FROM_VALUES, *(name for name in parts if name.endswith("parts"))]
    needs = {name: reached(graph, name) for name in pure}
    wrong = [f"{name} needs {each}" for name in pure for each in needs[name] & set(WHAT_ACTS)]
    assert not wrong, "\n" + "\n".join(wrong)
    assert len(needs["devui.web.panels.timeline.rows"]) <= MOST_OF_ROWS


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return all modules that a module imports, directly or indirectly."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = graph[waiting.pop()] - seen
        seen |= fresh
        waiting.extend(fresh)
    return seen


def rings(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that all reach each other."""
    reach = {start: reached(graph, start) for start in graph}
    knots = [{each for each in reach[name] if name in reach[each]} for name in graph]
    return [knot for number, knot in enumerate(knots) if knot and knot not in knots[:number]]


TYPES_OF_ADK = {
    "devui.runtime.agents.base_agent",
    "devui.runtime.agents.context",
    "devui.runtime.agents.invocation_context",
    "devui.runtime.auth.credential_service",
    "devui.runtime.plugins.base_plugin",
    "devui.runtime.plugins.plugin_manager",
    "devui.runtime.tools.base_tool",
    "devui.runtime.workflow.base_node",
    "devui.runtime.workflow.node_run",
}
"""Public classes whose methods name each other: a context has an agent, which runs with a context.

What they are made of is below them, and refers to them by a Protocol.
"""


def test_only_adks_base_types_know_each_other_by_their_types() -> None:
    """The only ring that remains when imports for type checkers count, too."""
    ours = {module.name for module in modules("devui") if floor_of(module.name) == "runtime"}
    graph: dict[str, set[str]] = {name: set() for name in ours}
    for edge in all_imports():
        if edge.module.name in ours:
            graph[edge.module.name] |= {edge.target} & ours - {edge.module.name}
    assert rings(graph) == [TYPES_OF_ADK], "declare a Protocol below, or move the function above"


@pytest.mark.parametrize(
    ("column", "never"), [(SERVER_COLUMN, NEVER_IN_SERVER), (WORKER_COLUMN, NEVER_IN_WORKER)]
)
def test_importing_a_column_loads_nothing_of_the_other_and_does_nothing(
    column: set[str], never: tuple[str, ...]
) -> None:
    names = sorted(
        module.name
        for module in modules("devui")
        if floor_of(module.name) in column
        and not module.name.endswith("__main__")
        and not starts_with(module.name, OPTIONAL)
    )
    code = (
        "import importlib, sys\n"
        "sys.modules['httpx'] = None\n"  # google-genai uses it if installed; it brings click
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"never = {never!r}\n"
        "print(sorted(m for m in sys.modules for n in never if m == n or m.startswith(n + '.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", f"importing the column wrote to stderr: {done.stderr}"
    assert done.stdout == "[]\n", f"these were loaded or printed on import: {done.stdout}"
