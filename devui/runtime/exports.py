"""Packages whose names are loaded on first use (adk-runtime 0).

The runtime keeps ADK's module paths, so `agents` holds both the contexts (which tools and flows
need) and `LlmAgent` (which needs tools and flows). A package that imported all its names at once
would create an import cycle; one that loads each name on request does not, and starts faster.
Only here and in `import_paths` does the runtime import modules by name.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from devui.runtime.left_out import closest


def lazy(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module-level `__getattr__` (PEP 562) for `package`.

    `modules` maps each public name to the module inside the package that defines it, written as
    `module:attribute` if its name there differs; a module beside the package begins with a dot. The
    package's own modules are available by name, too, as they are after importing google-adk.
    """

    def load(name: str) -> Any:
        if name not in modules and _is_module(package, name):
            return import_module(f".{name}", package)
        if name not in modules:
            close = "" if name.startswith("_") else closest(name, modules)
            hint = f"; did you mean {close!r}?" if close else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        module, _, attribute = modules[name].partition(":")
        return getattr(import_module(f".{module}", package), attribute or name)

    return load


def _is_module(package: str, name: str) -> bool:
    try:
        return not name.startswith("_") and find_spec(f"{package}.{name}") is not None
    except ModuleNotFoundError:  # left_out's explanation, which is for imports only
        return False
