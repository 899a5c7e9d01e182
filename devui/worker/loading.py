"""Finds and imports the agent of an app folder, by ADK's rules (adk-web 2.2).

`{name}` is imported first, then `{name}.agent`; in each an `app` (App) wins over a `root_agent`.
The folder of the apps is put on the import path, so that `from . import tools` and
`from {name}.tools import …` both work. The nearest `.env` upwards is loaded before, without
overriding what the environment already says.
"""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

from dotenv import load_dotenv

from devui.runtime.apps.app import App
from devui.runtime.workflow.base_node import BaseNode
from devui.worker.from_source import import_from_source


class NoAgent(Exception):
    """The folder was imported, but it exports no agent that can run here."""


def load(agents_dir: Path, name: str) -> App | BaseNode:
    """Import the app `name` of `agents_dir` and return what it exports.

    Raises NoAgent, or whatever the agent's own code raises while it is imported.
    """
    _load_environment(agents_dir / name)
    import_from_source(agents_dir)
    sys.path.insert(0, str(agents_dir))
    module = importlib.import_module(name)
    exported = _exported(module)
    if exported is None and _has_submodule(agents_dir / name):
        module = importlib.import_module(f"{name}.agent")
        exported = _exported(module)
    if exported is None:
        raise NoAgent(
            f"{agents_dir / name} exports neither `root_agent` nor `app`: "
            f"define `root_agent = LlmAgent(...)` in {name}/agent.py"
        )
    if not isinstance(exported, App | BaseNode):
        raise NoAgent(_foreign(exported, module))
    return exported


def _load_environment(folder: Path) -> None:
    if os.environ.get("ADK_DISABLE_LOAD_DOTENV", "").lower() in {"1", "true", "yes", "on"}:
        return
    for parent in (folder, *folder.parents):
        if (parent / ".env").is_file():
            load_dotenv(parent / ".env", override=False)
            return


def _exported(module: ModuleType) -> object | None:
    names = vars(module)
    app = names.get("app")
    return app if isinstance(app, App) else names.get("root_agent")


def _has_submodule(folder: Path) -> bool:
    return (folder / "agent.py").is_file() or (folder / "agent" / "__init__.py").is_file()


def _foreign(exported: object, module: ModuleType) -> str:
    if isinstance(exported, type):
        name = exported.__name__
        return (
            f"`root_agent` of {module.__name__} is the class {name}, not an agent: make one by"
            f" calling it, such as {name}(name=...)"
        )
    kind = type(exported)
    told = f"`root_agent` of {module.__name__} is a {kind.__module__}.{kind.__qualname__}"
    if kind.__module__.startswith("google.adk"):
        return f"{told}; import from `devui.runtime` instead of `google.adk` to run it here"
    return f"{told}, not an agent: it must be an agent (LlmAgent, …) or a Workflow of devui.runtime"
