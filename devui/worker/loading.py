"""Finds and imports the agent of an app folder, by ADK's rules (adk-web 2.2).

`{name}` is imported first, then `{name}.agent`; in each, an `app` (App) takes precedence over a
`root_agent`. If neither module exports one, the engine's runtime reads a `root_agent.yaml`. The
folder of the apps is put on the import path, so that both `from . import tools` and
`from {name}.tools import …` work. Before the import, the nearest `.env` from the app's folder
upwards is loaded; it doesn't override the environment.
"""

import importlib
import os
import sys
from collections.abc import Callable
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from dotenv import load_dotenv

from devui.worker.engines.choice import ALIAS, NotOfARuntime, adk_is_installed, kit_of
from devui.worker.engines.kit import App, BaseNode


class _FromSource(SourceFileLoader):
    def path_stats(self, path: str) -> Any:
        """Raise OSError, so that importlib neither reads nor writes bytecode."""
        raise OSError(f"{path}: its bytecode is not used")


def _is_own(path: Path, root: Path) -> bool:
    """Return whether the path is agent code, and not in a virtual environment inside the root."""
    if not path.is_relative_to(root):
        return False
    below = path.relative_to(root).parts
    return not any(part == "site-packages" or part.startswith(".") for part in below)


def import_from_source(folder: Path) -> None:
    """Compile modules below the folder from source in this process, without cached bytecode."""
    root = folder.resolve()

    def finder(path: str) -> FileFinder:
        if not _is_own(Path(path).resolve(), root):
            raise ImportError(f"{path} is not code of the agents in {root}")
        return FileFinder(
            path,
            (ExtensionFileLoader, EXTENSION_SUFFIXES),
            (_FromSource, SOURCE_SUFFIXES),
            (SourcelessFileLoader, BYTECODE_SUFFIXES),
        )

    hook: Callable[[str], Any] = finder
    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()


_DEFAULT_MODEL: Final = "DEVUI_DEFAULT_MODEL"
"""The variable for the model of agents that set none; `--default_llm_model` sets it."""
_DESCRIPTION: Final = "root_agent.yaml"
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
"""The values of variables that google-adk treats as true."""


class NoAgent(Exception):
    """The folder was imported, but it exports no agent that can run."""


def load(agents_dir: Path, name: str) -> App | BaseNode:
    """Import the app `name` of `agents_dir` and return what it exports.

    Raises NoAgent, or whatever the agent's code raises during the import.
    """
    folder = agents_dir.joinpath(*name.split("."))  # `team.alpha` lies in team/alpha
    _load_environment(folder)
    import_from_source(agents_dir)
    sys.path.insert(0, str(agents_dir))
    module = importlib.import_module(name)
    exported: Any = _exported(module)
    if exported is None and _has_submodule(folder):
        module = importlib.import_module(f"{name}.agent")
        exported = _exported(module)
    if exported is None and (folder / _DESCRIPTION).is_file():
        exported = _description(folder / _DESCRIPTION)
    if exported is None:
        raise NoAgent(_nothing_exported(folder))
    try:
        kit = kit_of(exported)
    except NotOfARuntime:
        raise NoAgent(_foreign(exported, module)) from None
    if model := os.environ.get(_DEFAULT_MODEL):
        kit.llm_agent.set_default_model(model)
    agent: App | BaseNode = exported
    return agent


def _load_environment(folder: Path) -> None:
    if os.environ.get("ADK_DISABLE_LOAD_DOTENV", "").strip().lower() in _TRUE:
        return
    environment = dict(os.environ)
    for parent in (folder, *folder.parents):
        if (parent / ".env").is_file():
            # A reference such as ${HOST} means the file's own HOST, as with ADK; variables that
            # were set before keep their values.
            load_dotenv(parent / ".env", override=True)
            os.environ.update(environment)
            return


def _description(file: Path) -> object:
    """Read the agent from a YAML file. Raises what its reader and the code it names raise."""
    if adk_is_installed() and not importlib.import_module(ALIAS).__name__.startswith("devui."):
        reader = importlib.import_module(f"{ALIAS}.agents.config_agent_utils")
        agent: object = reader.from_config(str(file))
        return agent
    return importlib.import_module("devui.runtime.agents.yaml_agents").agent_from_yaml(file)


def _exported(module: ModuleType) -> object | None:
    names = vars(module)
    app = names.get("app")
    return app if _is_app(app) else names.get("root_agent")


def _is_app(value: object) -> bool:
    try:
        return isinstance(value, kit_of(value).app)
    except NotOfARuntime:
        return False


def _has_submodule(folder: Path) -> bool:
    return (folder / "agent.py").is_file() or (folder / "agent" / "__init__.py").is_file()


def _nothing_exported(folder: Path) -> str:
    remedy = f"define `root_agent = LlmAgent(...)` in {folder.name}/agent.py"
    return f"{folder} exports neither `root_agent` nor `app`: {remedy}"


def _foreign(exported: object, module: ModuleType) -> str:
    if isinstance(exported, type):
        name = exported.__name__
        return (
            f"`root_agent` of {module.__name__} is the class {name}, not an agent: make one by"
            f" calling it, such as {name}(name=...)"
        )
    kind = type(exported)
    what = f"`root_agent` of {module.__name__} is a {kind.__module__}.{kind.__qualname__}"
    return f"{what}, not an agent: it must be an agent (LlmAgent, …), a Workflow or an App"
