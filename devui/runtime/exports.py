"""Packages whose names are loaded on first use (adk-runtime 0).

The runtime keeps ADK's module paths, so `agents` holds both the contexts (which tools and flows
need) and `LlmAgent` (which needs tools and flows). A package that imported all its names at once
would make a ring of that; one that loads each name when it is asked for does not, and starts
faster. Here and in `import_paths` the runtime imports a module by name.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from devui.runtime.left_out import closest


def lazy(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """A module-level `__getattr__` (PEP 562) for `package`.

    `modules` tells, for each public name, the module inside the package that defines it, as
    `module:attribute` where it has another name there; one beside the package has a dot before it.
    The package's own modules are there by their names, too, as after the import of google-adk.
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
    except ModuleNotFoundError:  # the words of left_out, which only an import shows
        return False
