"""Chooses the engine of an app by a person's choice, what is installed, and what the app imports.

Whether `google.adk` stands for devui.runtime is decided before the app is imported. Otherwise the
app's exports decide, since their classes belong to one runtime or the other.
"""

import contextlib
import platform
import sys
from collections.abc import Sequence
from importlib import import_module, metadata
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

from devui.wire.engines import EngineChoice, EngineInfo
from devui.worker.engines.kit import Kit

if TYPE_CHECKING:
    from importlib.abc import Loader

ALIAS: Final = "google.adk"
ROOT: Final = "devui.runtime"


class Aliases:
    """A finder for `sys.meta_path` that maps `google.adk` to devui.runtime, and its loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for an aliased module; raises what importing the real module raises."""
        if fullname != ALIAS and not fullname.startswith(f"{ALIAS}."):
            return None
        own = find_spec(_own_name(fullname))
        if own is None:
            return None
        spec = ModuleSpec(fullname, cast("Loader", self), origin=own.origin)
        spec.submodule_search_locations = own.submodule_search_locations
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the real module; importlib then gives it the alias's spec temporarily."""
        module = import_module(_own_name(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec; it has been executed under its own name."""
        alias = module.__spec__
        if alias is not None and alias.loader_state is not None:
            module.__spec__ = alias.loader_state

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the module's code, for `runpy`."""
        own = find_spec(_own_name(fullname))
        loader: Any = own.loader if own else None
        code: CodeType | None = loader.get_code(_own_name(fullname)) if loader else None
        return code


def install_aliases() -> None:
    """Serve devui.runtime as `google.adk` from now on, even if google-adk is installed."""
    if not are_aliases_installed():
        sys.meta_path.insert(0, Aliases())


def are_aliases_installed() -> bool:
    """Return whether importing `google.adk` gives devui.runtime."""
    return any(isinstance(finder, Aliases) for finder in sys.meta_path)


def aliases_in_use() -> bool:
    """Return whether anything has imported `google.adk` and got devui.runtime."""
    own = sys.modules.get(ROOT)
    return own is not None and sys.modules.get(ALIAS) is own


def _own_name(alias: str) -> str:
    return f"{ROOT}{alias.removeprefix(ALIAS)}"


_ENGINES: Final = {
    "google.adk": "devui.worker.engines.adk",
    "devui.runtime": "devui.worker.engines.native",
}
"""The module with a runtime's kit, by the runtime's package."""


_OLDEST_ADK: Final = "2.5.0"
"""The oldest google-adk that supports all features of the pages."""


class EngineUnavailable(Exception):
    """The chosen or required engine can't run the app; the message says what to do."""


class NotOfARuntime(TypeError):
    """An object is not an app, agent or node of any runtime."""


def kit_of(exported: Any) -> Kit:
    """Return the kit of the runtime that this app, agent or node belongs to.

    Raises NotOfARuntime, and EngineUnavailable for a google-adk that lacks what devui needs.
    """
    packages = {".".join(kind.__module__.split(".")[:2]) for kind in type(exported).__mro__}
    for package in packages & _ENGINES.keys():
        kit = _kit(_ENGINES[package])
        if isinstance(exported, kit.exported):
            return kit
    raise NotOfARuntime(f"{type(exported).__qualname__} is not an app, agent or node")


def _kit(module: str) -> Kit:
    try:
        kit: Kit = import_module(module).KIT
    except ImportError as error:
        raise EngineUnavailable(
            f"google-adk {_adk_version()} in {sys.executable} cannot run the app here ({error})."
            f" Install {_OLDEST_ADK} or newer with"
            f" `{sys.executable} -m pip install --upgrade google-adk`, or choose the engine devui,"
            " which runs the same code."
        ) from error
    return kit


def environment() -> str:
    """Describe the engine and the Python that import apps in this process, for messages."""
    python = f"Python {platform.python_version()} ({sys.executable})"
    if are_aliases_installed():
        return f"Engine devui, {python}"
    return f"Engine google-adk {_adk_version()}, {python}" if adk_is_installed() else python


def _adk_version() -> str:
    try:
        return metadata.version("google-adk")
    except metadata.PackageNotFoundError:
        return "of an unknown version"


def prepare(choice: EngineChoice) -> None:
    """Prepare for the import of an app. Raises EngineUnavailable if google-adk is missing."""
    installed = adk_is_installed()
    if choice == "google-adk" and not installed:
        raise EngineUnavailable(
            f"google-adk isn't installed in {sys.executable}. Install it with"
            f" `{sys.executable} -m pip install google-adk`, name a Python that has it with"
            " --python, or choose the engine devui, which runs the same code without it."
        )
    if choice == "devui" or not installed:
        install_aliases()


def preload(choice: EngineChoice) -> None:
    """Import the runtime that an app will probably need.

    If it can't be imported, the app's own import reports that.
    """
    is_adk = choice == "google-adk" or (choice == "auto" and adk_is_installed())
    with contextlib.suppress(Exception, SystemExit):
        _kit(_ENGINES[ALIAS if is_adk else ROOT])


def adk_is_installed() -> bool:
    """Return whether `google.adk` is importable and is google-adk; loads none of its code."""
    try:
        return not aliases_in_use() and find_spec(ALIAS) is not None
    except ModuleNotFoundError:  # no `google` package exists
        return False


def chosen_kit(exported: Any, choice: EngineChoice) -> Kit:
    """Return the kit of the engine that runs what an app exports.

    Raises EngineUnavailable if that isn't the chosen engine.
    """
    kit = kit_of(exported)
    if choice == "google-adk" and kit.name != choice:
        raise EngineUnavailable(
            "the app imports devui.runtime, which google-adk cannot run. Import from `google.adk`"
            " instead, or choose the engine auto or devui."
        )
    return kit


def engine_info(kit: Kit, choice: EngineChoice) -> EngineInfo:
    """Describe the engine of a loaded app and why it was chosen."""
    aliased = kit.name == "devui" and aliases_in_use()
    return EngineInfo(
        name=kit.name, version=kit.version, reason=_reason(kit, choice), aliased=aliased
    )


def _reason(kit: Kit, choice: EngineChoice) -> str:
    if kit.name == "google-adk":
        if choice == "google-adk":
            return "You chose google-adk, which the app imports."
        return "The app imports google.adk, which is installed, so it runs on google-adk itself."
    if not aliases_in_use():
        return "The app imports devui.runtime."
    if choice == "devui":
        return "You chose devui; the app's imports of google.adk resolve to devui.runtime."
    return (
        f"google-adk isn't installed in {sys.executable}; the app's imports of google.adk resolve"
        " to devui.runtime."
    )
