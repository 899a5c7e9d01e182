"""What a Runner is given, checked: app, services, settings of a run (devui's own)."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from devui.runtime.agents.base_agent import BaseAgent, family
from devui.runtime.agents.run_config import RunConfig
from devui.runtime.apps.app import App
from devui.runtime.mistakes import brief
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.workflow.base_node import BaseNode

# Arguments that are texts, or yes and no, checked.


def yes_or_no(name: str, value: object) -> bool:
    """What the value says, as in an `if`; not of a text or a function, as "no" would mean yes.

    Raises:
        TypeError: it is one of those.
    """
    if isinstance(value, str) or callable(value):
        raise TypeError(f"`{name}` is {brief(value)}; give True or False.")
    return bool(value)


def texts(name: str, value: object) -> Sequence[str]:
    """The texts, or the only one in a list.

    Raises:
        TypeError: something among them is no text.
    """
    several: Sequence[Any] = [value]
    if isinstance(value, Iterable) and not isinstance(value, str | BaseModel):
        several = [*value]
    for each in several:
        if not isinstance(each, str):
            raise TypeError(f"`{name}` holds {brief(each)}; give a text, or a list of texts.")
    return several


_METHODS = {
    "session_service": "get_session",
    "artifact_service": "load_artifact",
    "memory_service": "search_memory",
    "credential_service": "load_credential",
}
"""By what services are known, which need not be of the runtime's own classes."""


def app_of(
    *,
    app: App | None,
    app_name: str | None,
    agent: BaseNode | None,
    node: BaseNode | None,
    plugins: list[BasePlugin] | None,
) -> App:
    """The app that was given, or one made of the agent.

    Raises:
        TypeError: what was given is no app, and no agent.
        ValueError: there is not exactly one of them, something is missing or in another place, or
            an agent is below itself.
    """
    roots = [root for root in (agent, node) if root is not None]
    if len(roots) + (app is not None) != 1:
        raise ValueError("Give the Runner exactly one of app, agent and node.")
    if app is not None:
        if not isinstance(app, App):
            raise TypeError(f"`app` is {brief(app)}; give an App(name=..., root_agent=...).")
        if plugins is not None:
            raise ValueError("Plugins belong to the app: App(plugins=[...]).")
        _check_tree(app.root_agent)
        return app
    root = roots[0]
    if isinstance(root, App):
        raise TypeError(f"`agent` is the App {root.name!r}; give it as app=...")
    if not isinstance(root, BaseNode):
        raise TypeError(f"`agent` is {brief(root)}; give an agent or a Workflow.")
    _check_tree(root)
    name = app_name or (root.name if root is node else None)
    if name and not isinstance(name, str):
        raise TypeError(f"`app_name` is {brief(name)}; give a text.")
    if not name:
        raise ValueError("A Runner of an agent needs app_name: whose sessions are they?")
    # Not validated: the name may be one that only older sessions still have.
    return App.model_construct(name=name, root_agent=root, plugins=plugins or [])


def _check_tree(root: BaseNode) -> None:
    """Refuse a tree without an end: nothing that walks through it would come back."""
    if isinstance(root, BaseAgent):
        for _ in family(root):
            pass


def check_services(**services: object) -> None:
    """Refuse classes, and other things, in place of services.

    Raises:
        TypeError: there is one.
    """
    for name, service in services.items():
        if isinstance(service, type | str):
            raise TypeError(f"`{name}` is {brief(service)}; give an instance of a service.")
        method = _METHODS[name]
        if service is None and name != "session_service":
            continue
        if not hasattr(service, method):
            kind = name.replace("_", " ")
            raise TypeError(
                f"`{name}` is {brief(service)}, which has no {method}; give an instance of"
                f" {'an' if kind[0] == 'a' else 'a'} {kind}."
            )


def check_session_id(session_id: object) -> None:
    """Refuse a session, or the coroutine of one, in place of its id.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(session_id, str):
        raise TypeError(
            f"`session_id` is {brief(session_id)}; give the `id` of a session, which is what"
            " `await session_service.create_session(...)` gives."
        )


def config_of(run_config: RunConfig | None) -> RunConfig:
    """The settings that were given, or those of a run without any.

    Raises:
        TypeError: they are something else.
    """
    if run_config is None:
        return RunConfig()
    if not isinstance(run_config, RunConfig):
        raise TypeError(f"`run_config` is {brief(run_config)}; give a RunConfig(...).")
    return run_config
