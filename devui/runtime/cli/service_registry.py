"""Services by URI scheme, registered by a project (adk-web 2.3).

On devui's own server, only memory services take effect: sessions and artifacts are in its journal.
"""

import importlib
import logging
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from devui.runtime.artifacts.file_artifact_service import FileArtifactService
from devui.runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.yaml_text import parse_yaml

_logger = logging.getLogger("devui.agents")

ServiceFactory = Callable[..., Any]
"""Takes the URI and keywords such as `agents_dir`; returns the service."""

_FILES: Final = ("services.yaml", "services.yml")


class ServiceRegistry:
    """Factories of services, by the URI schemes that they accept."""

    def __init__(self) -> None:
        self._sessions: dict[str, ServiceFactory] = {}
        self._artifacts: dict[str, ServiceFactory] = {}
        self._memories: dict[str, ServiceFactory] = {}

    def register_session_service(self, scheme: str, factory: ServiceFactory) -> None:
        """Use a factory for the session services of a scheme."""
        self._sessions[scheme] = factory

    def register_artifact_service(self, scheme: str, factory: ServiceFactory) -> None:
        """Use a factory for the artifact services of a scheme."""
        self._artifacts[scheme] = factory

    def register_memory_service(self, scheme: str, factory: ServiceFactory) -> None:
        """Use a factory for the memory services of a scheme."""
        self._memories[scheme] = factory

    def create_session_service(self, uri: str, **kwargs: Any) -> Any:
        """Return the session service for a URI, or None if its scheme isn't registered."""
        return _created(self._sessions, uri, kwargs)

    def create_artifact_service(self, uri: str, **kwargs: Any) -> Any:
        """Return the artifact service for a URI, or None if its scheme isn't registered."""
        return _created(self._artifacts, uri, kwargs)

    def create_memory_service(self, uri: str, **kwargs: Any) -> Any:
        """Return the memory service for a URI, or None if its scheme isn't registered."""
        return _created(self._memories, uri, kwargs)


def _created(factories: dict[str, ServiceFactory], uri: str, options: dict[str, Any]) -> Any:
    factory = factories.get(urlsplit(uri).scheme)
    return factory(uri, **options) if factory else None


@cache
def get_service_registry() -> ServiceRegistry:
    """Return this process's registry, which starts with the runtime's own services."""
    registry = ServiceRegistry()
    registry.register_session_service("memory", lambda uri, **_: InMemorySessionService())
    registry.register_artifact_service("memory", lambda uri, **_: InMemoryArtifactService())
    registry.register_artifact_service("file", _files)
    registry.register_memory_service("memory", lambda uri, **_: InMemoryMemoryService())
    return registry


def _files(uri: str, **_: Any) -> FileArtifactService:
    place = urlsplit(uri)
    if place.netloc not in {"", "localhost"} or not place.path:
        raise ValueError(f"{uri!r} is not a folder on this machine: use file:///path/to/folder")
    return FileArtifactService(root_dir=unquote(place.path))


def load_services_module(agents_dir: str) -> None:
    """Register what the folder's `services.yaml` names, then import its `services.py`.

    A file that fails is logged; if `services.yaml` fails, `services.py` is not imported.
    """
    folder = Path(agents_dir)
    if not folder.is_dir():
        return
    if agents_dir not in sys.path:
        sys.path.insert(0, agents_dir)
    try:
        for name in _FILES:
            if (folder / name).is_file():
                _register(parse_yaml((folder / name).read_text(encoding="utf-8")))
        if (folder / "services.py").is_file():
            importlib.import_module("services")
    # The project's code may raise anything.
    except Exception as error:
        _logger.warning("The services of %s could not be loaded: %s", folder, error, exc_info=True)


def _register(data: Any) -> None:
    """Register all entries; each has `scheme`, `type`, and a dotted `class` to call with `uri`."""
    registry = get_service_registry()
    kinds = {
        "session": registry.register_session_service,
        "artifact": registry.register_artifact_service,
        "memory": registry.register_memory_service,
    }
    for entry in (data.get("services") or []) if isinstance(data, dict) else []:
        scheme, kind, path = (entry.get(key) for key in ("scheme", "type", "class"))
        if not (scheme and path and kind in kinds):
            _logger.warning("An entry of services.yaml needs scheme, type and class: %r", entry)
            continue
        module, _, name = path.rpartition(".")
        kinds[kind](scheme, _factory(getattr(importlib.import_module(module), name)))


def _factory(kind: type[Any]) -> ServiceFactory:
    return lambda uri, **options: kind(uri=uri, **options)
