"""What our source never does, except in the few reviewed places in tests/allowed.py."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import TypeGuard

import pytest

from tests import allowed
from tests.allowed import settle
from tests.source import Module, line_of, modules, texts

BROAD = {"Exception", "BaseException"}
REFLECTION = {"getattr", "hasattr", "setattr", "delattr"}
CODE_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml", "imp"}
CODE_CALLS = {"eval", "exec", "compile", "__import__", "import_module", "exec_module"}
INFLATING = {"bz2", "gzip", "lzma", "tarfile", "zipfile", "zlib", "zstandard"}
OF_PATHS = {
    *("chmod", "hardlink_to", "mkdir", "rename", "replace", "rmdir", "symlink_to"),
    *("touch", "unlink", "write_bytes", "write_text"),
}
OF_SYSTEMS = {
    *("chmod", "copy", "copy2", "copyfile", "copytree", "link", "makedirs", "mkdir", "move"),
    *("remove", "rename", "replace", "rmdir", "rmtree", "symlink", "truncate", "unlink"),
}
PARTICIPLES = {
    *("asked", "chosen", "found", "given", "gone", "heard", "kept", "known", "made", "meant"),
    *("said", "shown", "taken", "told", "wanted"),
}
IRREGULAR = {
    *("begun", "born", "broken", "brought", "came", "drawn", "forgotten", "grown", "hid", "led"),
    *("lent", "lost", "met", "overtaken", "proven", "ran", "sent", "sought", "spelt", "spent"),
    *("stood", "stuck", "thrown", "took", "unheard", "unmet", "unproven", "unsaid", "unwritten"),
    *("went", "withheld", "written", "wrote"),
}
ACCEPTED = {
    *("aliased", "answered", "appended", "armed", "blocked", "boosted", "born", "cached"),
    *("changed", "checked", "closed", "committed", "compacted", "confirmed", "consumed"),
    *("continued", "created", "damaged", "declared", "deleted", "diverged", "dropped"),
    *("edited", "elapsed", "enabled", "ended", "escalated", "expected", "exported", "failed"),
    *("finished", "flagged", "folded", "forked", "hosted", "ignored", "imported", "indexed"),
    *("inherited", "installed", "interrupted", "listed", "lost", "merged", "negated"),
    *("omitted", "outdated", "paused", "pickled", "proxied", "queued", "ran", "recorded"),
    *("recovered", "redacted", "refused", "released", "required", "saved", "scanned", "sent"),
    *("said", "shared", "sized", "skipped", "stalled", "starred", "started", "streamed"),
    *("uncommitted", "unfinished", "unfolded", "unpriced", "unreported", "unused", "updated"),
    *("watched", "withheld"),
}
"""Participles that every programmer reads as an adjective, a state, or a term of ADK or the web."""
SQL_CALLS = {"execute", "executemany", "executescript", "fetch"}


def name_of(node: ast.AST) -> str:
    """Return the last part of a name or attribute, or an empty string."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def calls(module: Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.Call))


def comments(module: Module) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def passes_on(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler only cleans up and raises the same exception again."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_only_named_edges_catch_every_exception() -> None:
    findings = {}
    for module in modules("devui"):
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ExceptHandler) or passes_on(node):
                continue
            names = {name_of(inner) for inner in ast.walk(node.type)} if node.type else BROAD
            if names & BROAD:
                findings[module.enclosing(node)] = f"{module.place(node)}: catches everything"
    settle(findings, allowed.BROAD_EXCEPT, "catch the narrowest type, where it can be answered")


def test_attributes_are_reached_by_name_not_by_reflection() -> None:
    findings = {
        module.enclosing(call): f"{module.place(call)}: {ast.unparse(call)}"
        for module in modules("devui")
        for call in calls(module)
        if isinstance(call.func, ast.Name)
        and call.func.id in REFLECTION
        and len(call.args) > 1
        and isinstance(call.args[1], ast.Constant)
    }
    settle(findings, allowed.LITERAL_GETATTR, "use the attribute, or a protocol that has it")


def test_silenced_type_checks_name_the_check_and_the_reason() -> None:
    silencing = re.compile(r"#\s*type:\s*ignore")
    explained = re.compile(r"# type: ignore\[[a-z, -]+\](.*)")
    wrong = []
    for module in modules("devui", "tests", "agents", "benchmarks"):
        if not silencing.search(module.text):
            continue  # finding the comments of all files takes seconds
        texts = dict(comments(module))
        for line, text in texts.items():
            match = explained.search(text)
            has_reason = match and (match[1].strip() or line - 1 in texts)
            if silencing.search(text) and not has_reason:
                wrong.append(f"{module.path}:{line}: {text}")
    assert not wrong, "name the check, and say why there or above:\n" + "\n".join(wrong)


@pytest.mark.req("R29")
def test_nothing_received_or_stored_can_become_code() -> None:
    findings = {}
    for module in modules("devui"):
        for node in ast.walk(module.tree):
            roots = set()
            if isinstance(node, ast.Import):
                roots = {alias.name.split(".")[0] for alias in node.names} & CODE_MODULES
            elif isinstance(node, ast.ImportFrom):
                roots = {(node.module or "").split(".")[0]} & CODE_MODULES
            elif isinstance(node, ast.Call):
                roots = {name_of(node.func)} & CODE_CALLS
                if ast.unparse(node.func).startswith("re."):
                    roots = set()
            if roots:
                findings[module.enclosing(node)] = f"{module.place(node)}: {', '.join(roots)}"
    settle(findings, allowed.DYNAMIC_CODE, "data is JSON and never code (R29)")


@pytest.mark.req("R28")
def test_the_server_inflates_nothing() -> None:
    wrong = [
        f"{module.place(node)}: {ast.unparse(node)}"
        for module in modules("devui/web", "devui/debugger", "devui/store", "devui/wire")
        if module.path not in allowed.INFLATES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and INFLATING & {word for name in imported(node) for word in name.split(".")}
    ]
    assert not wrong, "what is sent compressed is refused (R28):\n" + "\n".join(wrong)


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the names of the modules that a statement imports from."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names]


def writes_files(call: ast.Call) -> bool:
    """Return whether a call creates, changes or removes a file."""
    name = name_of(call.func)
    if name == "open":
        arguments = [
            ast.unparse(value) for value in [*call.args, *(k.value for k in call.keywords)]
        ]
        return any(re.fullmatch(r"'[rbt]*[wax+][a-z+]*'", text) for text in arguments)
    if ast.unparse(call.func).startswith(("os.", "shutil.")):
        return name in OF_SYSTEMS
    of_values = name in {"rename", "replace"} and len(call.args) + len(call.keywords) > 1
    return isinstance(call.func, ast.Attribute) and name in OF_PATHS and not of_values


@pytest.mark.req("R33")
def test_the_web_and_the_debugger_write_no_files() -> None:
    findings = {
        module.enclosing(call): f"{module.place(call)}: {ast.unparse(call)}"
        for module in modules("devui/web", "devui/debugger")
        for call in calls(module)
        if writes_files(call)
    }
    settle(findings, allowed.WRITES, "files are written by the store, in the data folder (R33)")


def is_constant(node: ast.AST) -> bool:
    """Return whether an expression is a literal or the name of a constant (in capitals)."""
    return isinstance(node, ast.Constant) or bool(re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name_of(node)))


def is_built(node: ast.AST, built_names: set[str]) -> bool:
    """Return whether an expression is text built at run time from more than constants."""
    if isinstance(node, ast.JoinedStr):
        values = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        return not all(map(is_constant, values))
    if isinstance(node, ast.BinOp):
        return not (is_constant(node.left) and is_constant(node.right))
    if isinstance(node, ast.Call):
        return name_of(node.func) in {"format", "join", "replace"}
    return isinstance(node, ast.Name) and node.id in built_names


@pytest.mark.req("R30")
def test_sql_is_never_put_together_from_values() -> None:
    findings = {}
    for module in modules("devui"):
        built_names = {
            name_of(target)
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Assign) and is_built(node.value, set())
            for target in node.targets
        }
        for call in calls(module):
            is_sql = name_of(call.func) in SQL_CALLS and call.args
            if is_sql and is_built(call.args[0], built_names):
                findings[module.enclosing(call)] = (
                    f"{module.place(call)}: {ast.unparse(call)[:120]}"
                )
    settle(findings, allowed.BUILT_SQL, "pass values as parameters, JSON lists to json_each (R30)")


def test_the_package_never_sleeps_in_a_loop() -> None:
    findings = {
        module.enclosing(call): f"{module.place(call)}: {ast.unparse(call)}"
        for module in modules("devui")
        for loop in ast.walk(module.tree)
        if isinstance(loop, ast.While)
        for call in ast.walk(loop)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) in {"time.sleep", "asyncio.sleep"}
        and ast.unparse(call.args[0]) != "0"  # which only yields to others
    }
    settle(findings, allowed.SLEEPS, "wait for an event instead of polling")


def names_of_values(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield the names of functions, classes, arguments and variables.

    Fields are left out, as they may be those of a JSON object.
    """
    classes = (node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))
    fields = {inner.target for each in classes for inner in each.body if is_field(inner)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node, node.name
        elif isinstance(node, ast.arg):
            yield node, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node, node.id


def is_field(statement: ast.stmt) -> TypeGuard[ast.AnnAssign]:
    return isinstance(statement, ast.AnnAssign)


def test_values_are_named_by_nouns_and_functions_by_verbs() -> None:
    wrong = [
        f"{module.place(node)}: {name}"
        for module in modules("devui")
        for node, name in names_of_values(module)
        if name.strip("_").lower() in PARTICIPLES
    ]
    assert not wrong, "say what it is: a row, a match, a hint:\n" + "\n".join(wrong)


def names_of_parts(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield the names of a module, its classes, and their public fields and methods."""
    yield module.tree, module.name.rpartition(".")[2]
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ClassDef):
            continue
        yield node, node.name
        for inner in node.body:
            if is_field(inner) and isinstance(inner.target, ast.Name):
                yield inner, inner.target.id
            elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                yield inner, inner.name


def is_participle(name: str) -> bool:
    """Return whether a public name, such as `sent` or `Recorded`, is nothing but a participle."""
    if not re.fullmatch(r"[A-Za-z][a-z]+", name):
        return False
    word = name.lower()
    is_regular = word.endswith("ed") and word not in {"deed", "feed", "heed", "need", "seed"}
    return is_regular or word in PARTICIPLES | IRREGULAR


def test_modules_classes_and_their_members_are_named_by_nouns() -> None:
    names = [
        (module.place(node), name)
        for module in modules("devui")
        for node, name in names_of_parts(module)
        if is_participle(name)
    ]
    wrong = [f"{place}: {name}" for place, name in names if name.lower() not in ACCEPTED]
    assert not wrong, "say what it is, or add is_ or has_:\n" + "\n".join(wrong)
    unused = ACCEPTED - {name.lower() for _, name in names}
    assert not unused, f"not in use any more: {', '.join(sorted(unused))}"


def test_tests_use_the_real_parts() -> None:
    wrong = [
        f"{module.place(node)}: {ast.unparse(node)}"
        for module in modules("tests")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and "mock" in ast.unparse(node)
    ]
    assert not wrong, "use ScriptedLlm, a real file, a real server:\n" + "\n".join(wrong)


@pytest.mark.req("R17")
def test_only_the_reviewed_filter_marks_text_as_safe() -> None:
    findings = {
        module.enclosing(call): f"{module.place(call)}: {ast.unparse(call)[:100]}"
        for module in modules("devui")
        for call in calls(module)
        if name_of(call.func) == "Markup"
        and not all(isinstance(text, ast.Constant) for text in call.args)
    }
    settle(findings, allowed.SAFE_MARKUP, "let Jinja escape it (R17)")


TEMPLATE_RULES = {
    r"\|\s*safe\b": "R17: let Jinja escape it",
    r"autoescape\s+false": "R17: everything is escaped",
    r"\sstyle\s*=": "R13: give it a class",
    r"<style\b": "R13: put it into a file of static/css",
    r"\son[a-z]+\s*=": "R13: bind it in a module of static/js",
    r"\shx-on": "R14: htmx evaluates nothing here",
    r"<script(?![^>]*\bsrc=)": "R13: put it into a module of static/js",
    r"javascript:": "R13: no code in links",
    r"""=\s*\{\{""": "R17: quote the attribute",
    r"""\b(src|href|action)=["'](https?:)?//""": "R19: nothing loads from elsewhere",
}
STYLE_RULES = {
    r"@import": "list the file in the page's head",
    r"url\(\s*[\"']?(https?:)?//": "R19: nothing loads from elsewhere",
}
SCRIPT_RULES = {
    r"\beval\s*\(|\bnew Function\b": "R13: no code from text",
    r"\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write": "R15: use textContent",
    r"https?://": "R19: nothing loads from elsewhere",
}


@pytest.mark.req("R13")
@pytest.mark.parametrize(
    ("folder", "suffix", "rules"),
    [
        ("templates", ".html", TEMPLATE_RULES),
        ("static", ".css", STYLE_RULES),
        ("static", ".js", SCRIPT_RULES),
    ],
)
def test_pages_styles_and_scripts_keep_the_rules(
    folder: str, suffix: str, rules: dict[str, str]
) -> None:
    wrong = [
        f"{path}:{line_of(text, match.start())}: {match[0].strip()!r}: {advice}"
        for path, text in texts(folder, suffix)
        for pattern, advice in rules.items()
        for match in re.finditer(pattern, text)
    ]
    assert not wrong, "\n" + "\n".join(wrong)
