"""A project's configuration outside its agents: additional plugins and the memory service.

google-adk's server reads both from its options and from files (adk-web 2.3). Here they are created
in the app's process, from the engine's own classes.
"""

import functools
import importlib
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from devui.runtime.yaml_text import parse_yaml
from devui.worker.engines.kit import BasePlugin, Kit, Runner
from devui.worker.replay.network import is_guarded

_logger = logging.getLogger("devui.agents")

EXTRA_PLUGINS: Final = "DEVUI_EXTRA_PLUGINS"
"""Variable with dotted paths of classes or objects, comma-separated; `--extra_plugins` sets it."""
MEMORY_SERVICE: Final = "DEVUI_MEMORY_SERVICE_URI"
"""Variable with the location of the app's memory; `--memory_service_uri` sets it."""
_PLUGINS: Final = "plugins.yaml"
_ANALYTICS: Final = "bigquery_agent_analytics"
_NEEDED: Final = ("project_id", "dataset_id", "dataset_location")
_REGISTERING: Final = ("services.yaml", "services.yml", "services.py")


def add_plugins(runner: Runner, folder: Path, kit: Kit) -> None:
    """Add the plugins that are configured outside the app to its runner.

    A plugin that can't be created is skipped and logged as an error, as in google-adk. Raises
    ValueError if two plugins have the same name.
    """
    plugins = [*_extra(kit), *_analytics(folder, kit)]
    for plugin in plugins:
        runner.plugin_manager.register_plugin(plugin)
    if plugins:
        runner.app.plugins = [*runner.app.plugins, *plugins]  # shown in descriptions of the app


def _extra(kit: Kit) -> Iterator[BasePlugin]:
    for path in filter(None, os.environ.get(EXTRA_PLUGINS, "").split(",")):
        try:
            yield _plugin(path, kit)
        # The code of a plugin may raise anything.
        except Exception:
            _logger.exception("The plugin %s of --extra_plugins is left out", path)


def _plugin(path: str, kit: Kit) -> BasePlugin:
    module, _, name = path.rpartition(".")
    if not module:
        raise ImportError("write its module, too, as in my_plugins.Audit")
    plugin: Any = getattr(importlib.import_module(module), name)
    if isinstance(plugin, type) and issubclass(plugin, kit.base_plugin):
        plugin = plugin(name=path)
    if not isinstance(plugin, kit.base_plugin):
        raise TypeError(f"{path} is not a plugin of the engine {kit.name}")
    return plugin


def _analytics(folder: Path, kit: Kit) -> Iterator[BasePlugin]:
    """Yield the plugin that sends events to BigQuery, if `plugins.yaml` names a table."""
    file = folder / _PLUGINS
    if not file.is_file():
        return
    try:
        data = parse_yaml(file.read_text(encoding="utf-8"))
        table = data.get(_ANALYTICS) if isinstance(data, dict) else None
        if not isinstance(table, Mapping) or not all(table.get(key) for key in _NEEDED):
            return
        module = importlib.import_module(f"{_root(kit)}.plugins.{_ANALYTICS}_plugin")
        plugin = module.BigQueryAgentAnalyticsPlugin(
            project_id=table["project_id"],
            dataset_id=table["dataset_id"],
            table_id=table.get("table_id"),
            location=table["dataset_location"],
        )
        yield _silent_in_replays(plugin, kit)
    # A missing cloud client or missing credentials must not prevent debugging.
    except Exception as error:  # noqa: BLE001
        _logger.error("%s has no effect: %s", file, error)  # noqa: TRY400 - no fault of the code


def _silent_in_replays(plugin: BasePlugin, kit: Kit) -> BasePlugin:
    """Disable the plugin in replays, since recorded answers aren't new events for a table."""

    def silent(hook: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @functools.wraps(hook)
        async def wrapper(**values: Any) -> Any:
            return None if is_guarded() else await hook(**values)

        return wrapper

    for name in vars(kit.base_plugin):
        if name.endswith("_callback"):
            setattr(plugin, name, silent(getattr(plugin, name)))
    return plugin


def memory_service(agents: Path, folder: Path, kit: Kit) -> Any:
    """Return the app's memory service: the one that its URI names, or one in memory.

    The schemes are the engine's own and those registered by a `services.yaml` or `services.py` in
    the agents folder or the app's folder.

    Raises:
        ValueError: if no service has the URI's scheme.
        Exception: whatever the service's own code raises.
    """
    uri = os.environ.get(MEMORY_SERVICE, "")
    scheme = urlsplit(uri).scheme
    if not uri or scheme == "memory":
        return kit.in_memory_memory_service()
    registry = importlib.import_module(f"{_root(kit)}.cli.service_registry")
    for place in (agents, folder):
        if any((place / name).is_file() for name in _REGISTERING):
            registry.load_services_module(str(place))
            break
    service = registry.get_service_registry().create_memory_service(uri, agents_dir=str(agents))
    if service is None:
        raise ValueError(
            f"No memory service is registered for the scheme {scheme!r} of --memory_service_uri."
            f" Register it in services.yaml or services.py in {agents}, or give memory://."
        )
    return service


def _root(kit: Kit) -> str:
    """Return the package of the engine's runtime."""
    return "google.adk" if kit.name == "google-adk" else "devui.runtime"
