"""Checks the arguments of a Runner: app, services, settings of a run (devui's own)."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from devui.runtime.agents.base_agent import BaseAgent, family
from devui.runtime.agents.run_config import RunConfig
from devui.runtime.apps.app import App
from devui.runtime.mistakes import brief
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.workflow.base_node import BaseNode

# Checks arguments that are strings or booleans.


def yes_or_no(name: str, value: object) -> bool:
    """Return the value's truth; refuse strings and functions, since "no" would mean yes.

    Raises:
        TypeError: It is one of those.
    """
    if isinstance(value, str) or callable(value):
        raise TypeError(f"`{name}` is {brief(value)}; pass True or False.")
    return bool(value)


def texts(name: str, value: object) -> Sequence[str]:
    """Return the strings; a single one becomes a list.

    Raises:
        TypeError: One of them isn't a string.
    """
    several: Sequence[Any] = [value]
    if isinstance(value, Iterable) and not isinstance(value, str | BaseModel):
        several = [*value]
    for each in several:
        if not isinstance(each, str):
            raise TypeError(f"`{name}` contains {brief(each)}; pass a string or a list of strings.")
    return several


_METHODS = {
    "session_service": "get_session",
    "artifact_service": "load_artifact",
    "memory_service": "search_memory",
    "credential_service": "load_credential",
}
"""The methods that identify services, which needn't be of the runtime's own classes."""


def app_of(
    *,
    app: App | None,
    app_name: str | None,
    agent: BaseNode | None,
    node: BaseNode | None,
    plugins: list[BasePlugin] | None,
) -> App:
    """Return the given app, or one made from the agent.

    Raises:
        TypeError: What was given is neither an app nor an agent.
        ValueError: Not exactly one of them was given, something is missing or misplaced, or an
            agent is below itself.
    """
    roots = [root for root in (agent, node) if root is not None]
    if len(roots) + (app is not None) != 1:
        raise ValueError("Pass exactly one of app, agent and node to the Runner.")
    if app is not None:
        if not isinstance(app, App):
            raise TypeError(f"`app` is {brief(app)}; pass an App(name=..., root_agent=...).")
        if plugins is not None:
            raise ValueError("Plugins belong to the app: App(plugins=[...]).")
        _check_tree(app.root_agent)
        return app
    root = roots[0]
    if isinstance(root, App):
        raise TypeError(f"`agent` is the App {root.name!r}; pass it as app=...")
    if not isinstance(root, BaseNode):
        raise TypeError(f"`agent` is {brief(root)}; pass an agent or a Workflow.")
    _check_tree(root)
    name = app_name or (root.name if root is node else None)
    if name and not isinstance(name, str):
        raise TypeError(f"`app_name` is {brief(name)}; pass a string.")
    if not name:
        raise ValueError("Pass app_name with agent: sessions are stored under that name.")
    # Not validated: older sessions may have names that are no longer valid.
    return App.model_construct(name=name, root_agent=root, plugins=plugins or [])


def _check_tree(root: BaseNode) -> None:
    """Refuse a cyclic tree, since walking it would never end."""
    if isinstance(root, BaseAgent):
        for _ in family(root):
            pass


def check_services(**services: object) -> None:
    """Raise TypeError for classes, and for other objects that aren't services."""
    for name, service in services.items():
        if isinstance(service, type | str):
            raise TypeError(f"`{name}` is {brief(service)}; pass an instance of a service.")
        method = _METHODS[name]
        if service is None and name != "session_service":
            continue
        if not hasattr(service, method):
            kind = name.replace("_", " ")
            raise TypeError(
                f"`{name}` is {brief(service)}, which has no {method}; pass an instance of"
                f" {'an' if kind[0] == 'a' else 'a'} {kind}."
            )


def check_session_id(session_id: object) -> None:
    """Raise TypeError for a session, or a coroutine of one, in place of its id."""
    if not isinstance(session_id, str):
        raise TypeError(
            f"`session_id` is {brief(session_id)}; pass the `id` of a session, such as one"
            " that `await session_service.create_session(...)` returned."
        )


def config_of(run_config: RunConfig | None) -> RunConfig:
    """Return the given settings, or the defaults.

    Raises:
        TypeError: They aren't a RunConfig.
    """
    if run_config is None:
        return RunConfig()
    if not isinstance(run_config, RunConfig):
        raise TypeError(f"`run_config` is {brief(run_config)}; pass a RunConfig(...).")
    return run_config
