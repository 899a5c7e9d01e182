"""How large a piece may be. What outgrows its budget is usually two things: name them both.

Where a budget would make code worse, tests/allowed.py says where and why.
"""

import ast
from collections.abc import Iterable, Mapping

import pytest

from tests import allowed
from tests.allowed import settle
from tests.source import Function, modules, texts

MODULE_LINES = {"devui": 600, "agents": 400, "benchmarks": 400, "tests": 600}
FUNCTION_LINES = 60
COMPLEXITY = 10
NESTING = 3
POSITIONAL = 4
FILE_LINES = [("templates", ".html", 80), ("static", ".css", 250), ("static", ".js", 200)]

LOOPS = (ast.For, ast.AsyncFor, ast.While)
BRANCHES = (ast.If, *LOOPS, ast.ExceptHandler, ast.match_case)
BLOCKS = (ast.If, *LOOPS, ast.Try, ast.Match)
"""`with` doesn't count as a block: it decides nothing, and closing things must cost nothing."""
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def complexity(node: ast.AST) -> int:
    """Count the branches of a function, without those of inner functions, plus one."""
    inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, INNER)]
    return 1 + sum(complexity(child) - 1 + isinstance(child, BRANCHES) for child in inner)


def nesting(node: ast.AST, *, is_elif: bool = False) -> int:
    """Return the deepest chain of blocks in a function; `elif` is as deep as its `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, INNER):
            continue
        chained = isinstance(node, ast.If) and node.orelse == [child] and isinstance(child, ast.If)
        deepest = max(deepest, nesting(child, is_elif=chained))
    return deepest + (isinstance(node, BLOCKS) and not is_elif)


def positional(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the arguments that may be passed without a name, except `self` and `cls`."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def functions(*folders: str) -> list[Function]:
    return [function for module in modules(*folders) for function in module.functions()]


def over(
    items: Iterable[Function], measure: str, sizes: Mapping[str, int], limit: int
) -> dict[str, str]:
    return {
        function.key: f"{function.place}: {function.name} has {sizes[function.key]} {measure}"
        for function in items
        if sizes[function.key] > limit
    }


@pytest.mark.parametrize(("folder", "limit"), MODULE_LINES.items())
def test_modules_fit_their_budget(folder: str, limit: int) -> None:
    findings = {
        module.path: f"{module.path}:1: {lines} lines"
        for module in modules(folder)
        if (lines := len(module.text.splitlines())) > limit
    }
    reasons = {k: v for k, v in allowed.MODULE_LINES.items() if k.startswith(f"{folder}/")}
    settle(findings, reasons, f"a module has at most {limit} lines: split these")


def test_functions_fit_their_budget() -> None:
    every = functions("devui", "tests", "agents", "benchmarks")
    findings = over(every, "lines", {f.key: f.lines for f in every}, FUNCTION_LINES)
    settle(findings, allowed.FUNCTION_LINES, f"at most {FUNCTION_LINES} lines a function")


def test_functions_branch_little() -> None:
    every = functions("devui", "agents", "benchmarks")
    sizes = {f.key: complexity(f.node) for f in every}
    findings = over(every, "ways through", sizes, COMPLEXITY)
    settle(findings, allowed.COMPLEXITY, f"at most {COMPLEXITY} ways through a function")


def test_functions_nest_little() -> None:
    every = functions("devui", "agents", "benchmarks")
    findings = over(every, "nested blocks", {f.key: nesting(f.node) for f in every}, NESTING)
    settle(findings, allowed.NESTING, f"at most {NESTING} blocks within each other")


def is_public(function: Function) -> bool:
    """Return whether others call it; what click decorates is called by click, and by name."""
    decorators = map(ast.unparse, function.node.decorator_list)
    is_private = any(part.startswith("_") for part in function.name.split("."))
    return not is_private and not any(text.startswith("click.") for text in decorators)


def test_functions_take_few_positional_arguments() -> None:
    every = [function for function in functions("devui") if is_public(function)]
    sizes = {f.key: positional(f.node) for f in every}
    findings = over(every, "positional arguments", sizes, POSITIONAL)
    settle(findings, allowed.POSITIONAL, f"at most {POSITIONAL}; put a * before the others")


@pytest.mark.parametrize(("folder", "suffix", "limit"), FILE_LINES)
def test_pages_styles_and_scripts_fit_their_budget(folder: str, suffix: str, limit: int) -> None:
    wrong = [
        f"{path}:1: {lines} lines"
        for path, text in texts(folder, suffix)
        if (lines := len(text.splitlines())) > limit
    ]
    assert not wrong, f"at most {limit} lines each: split these\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("code", "ways", "depth"),
    [
        ("def f(): pass", 1, 0),
        ("def f():\n if a: pass\n elif b: pass\n else: pass", 3, 1),
        ("def f():\n for x in y:\n  if x:\n   with z: pass", 3, 2),
        ("def f():\n return [a for a in b if a] if c else d", 1, 0),
        ("def f():\n match a:\n  case 1: pass\n  case _: pass", 3, 1),
        ("def f():\n def g():\n  if a: pass\n return g", 1, 0),
        ("def f():\n try:\n  pass\n except A:\n  while b: pass", 3, 2),
    ],
)
def test_complexity_and_nesting_are_counted_as_people_count(
    code: str, ways: int, depth: int
) -> None:
    node = ast.parse(code).body[0]
    assert (complexity(node), nesting(node)) == (ways, depth)
