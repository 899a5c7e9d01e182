"""Modules in which google-adk defines public names, and which it calls private (devui's own).

Editors import a name from where it is defined, and so do many agents. Such a path gives what the
public module has; each is made when it is imported, so that none of them is a file to look after.
"""

from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

PUBLIC = {
    "agents._streaming_mode": "agents.run_config",
    "apps._configs": "apps.app",
    "environment._base_environment": "environment",
    "environment._local_environment": "environment",
    "features._feature_registry": "features",
    "errors._invocation_not_found_error": "errors",
    "errors._stale_session_error": "errors",
    "memory._sqlite_memory_service": "memory",
    "models._capabilities": "models",
    "models._fallback_model": "models",
    "plugins._reflect_retry_model_plugin": "plugins",
    "plugins._tool_call_integrity_plugin": "plugins",
    "runners.runner": "runners",
    "sessions._session_util": "sessions.storing",
    "skills._utils": "skills",
    "tools._forwarding_artifact_service": "tools.forwarding_artifact_service",
    "tools._node_tool": "tools.node_tool",
    "utils._debug_output": "invocations.transcript",
    "utils._schema_utils": "models.output_schema",
    "workflow._base_node": "workflow",
    "workflow._errors": "workflow.errors",
    "workflow._function_node": "workflow",
    "workflow._graph": "workflow",
    "workflow._join_node": "workflow",
    "workflow._node": "workflow",
    "workflow._retry_config": "workflow",
    "workflow._workflow": "workflow",
    "workflow.utils": "workflow",
    "workflow.utils._workflow_hitl_utils": "workflow.requests",
}
"""The module for each, below the root; those that google-adk has no public place for, too, and the
one in which the Runner is defined by the runtime seed."""


class Paths:
    """A finder and loader of such modules, for `sys.meta_path`.

    Its base classes stay where they are, since importlib.abc takes a while to load.
    """

    def __init__(self, root: str) -> None:
        """Serve the paths below the package `root`."""
        self._root = root

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """One for each of the table; a package, so that names it has not are explained."""
        if fullname.removeprefix(f"{self._root}.") not in PUBLIC:
            return None
        return ModuleSpec(fullname, cast("Loader", self), is_package=True)

    def create_module(self, spec: ModuleSpec) -> None:
        """A module like any other."""

    def exec_module(self, module: ModuleType) -> None:
        """Let it ask the public one for each name."""
        public = PUBLIC[module.__name__.removeprefix(f"{self._root}.")]
        found = import_module(f"{self._root}.{public}")
        vars(module)["__getattr__"] = partial(getattr, found)
