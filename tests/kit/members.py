"""Checks whether a class or function of the runtime has a member or parameter of some name."""

import ast
import inspect
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


def has(line: str, find: Callable[[str], Any]) -> bool:
    """Return whether what a line of tests.kit.adk_members names exists; `find` looks up owners."""
    whole, parameter = re.fullmatch(r"([^(]+)(?:\((.*)\))?", line).groups()
    owner, _, member = whole.rpartition(".")
    if parameter is None:
        return member in members(find(owner))
    if owner.rpartition(".")[2][:1].isupper():  # a method
        target = find(owner)
        return not hasattr(target, member) or takes(getattr(target, member), parameter)
    return takes(find(whole), parameter)


@cache
def members(owner: type) -> set[str]:
    """Return the attributes of a class and of its instances."""
    names = set(getattr(owner, "model_fields", {}))
    for each in owner.__mro__:
        names |= {*vars(each), *vars(each).get("__annotations__", {}), *_set_by(each)}
    return names


def takes(function: Any, parameter: str) -> bool:
    """Return whether it accepts that keyword; a model accepts its fields."""
    if fields := getattr(function, "model_fields", None):
        return parameter in fields or parameter in inspect.signature(function.__init__).parameters
    parameters = inspect.signature(function).parameters
    kinds = {each.kind for each in parameters.values()}
    return parameter in parameters or inspect.Parameter.VAR_KEYWORD in kinds


def _set_by(owner: type) -> set[str]:
    """Return the attributes that its methods set on `self`."""
    if not owner.__module__.startswith("devui."):
        return set()
    body = _tree(str(sys.modules[owner.__module__].__file__)).body
    return {
        node.attr
        for each in body
        if isinstance(each, ast.ClassDef) and each.name == owner.__name__
        for node in ast.walk(each)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if getattr(node.value, "id", "") == "self"
    }


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))
