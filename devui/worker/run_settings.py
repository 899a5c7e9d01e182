"""Settings for single runs: they change each model request, and the model that answers it.

The plugin follows the app's own and precedes the gates, so a person who holds the request sees it
with the settings. A callback of the agent comes later and may change them again.
"""

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.wire.settings import RunSettings
from devui.worker.engines.kit import BaseNode, Context, Kit, LlmAgent, LlmRequest, LlmResponse
from devui.worker.output import current_run


class Models:
    """The models that a run can use: the app's own, and all that the runtime knows by name."""

    def __init__(self, root: BaseNode, kit: Kit) -> None:
        self._root = root
        self._kit = kit
        self._by_name: dict[str, Any] = {}
        """Models created by name, once each, since a model keeps its connections."""

    def of_agents(self) -> Iterator[Any]:
        """Yield the model objects of the app's agents."""
        for agent in llm_agents(self._root, self._kit):
            yield agent.canonical_model

    def instead_of(self, own: Any, name: str) -> tuple[Any, str]:
        """Return the model of this name, and the name without a class prefix (`litellm:…`).

        An agent's `own` model also serves other names of its class. Raises ValueError or
        ImportError for a name that no class supports.
        """
        if own is not None and own.model == name:
            return own, name
        for model in self.of_agents():
            if model.model == name:
                return model, name
        if name not in self._by_name:
            self._by_name[name] = self._kit.new_model(name)
        model = self._by_name[name]
        return (own if type(own) is type(model) else model), model.model


class SettingsOfRuns:
    """The settings of the runs that have any."""

    def __init__(self) -> None:
        self._settings: dict[str, RunSettings] = {}
        self._models: Models | None = None

    def know(self, models: Models) -> None:
        """Set the models to choose from."""
        self._models = models

    def begin(self, run: str, settings: RunSettings) -> None:
        """Store the settings of a run that begins."""
        self._settings[run] = settings

    def forget(self, run: str) -> None:
        """Discard the settings of a run that has ended."""
        self._settings.pop(run, None)

    @property
    def is_active(self) -> bool:
        """Whether any run has settings of its own."""
        return bool(self._settings)

    def now(self) -> RunSettings | None:
        """Return the settings of the run whose code is executing; None if it has none."""
        return self._settings.get(current_run.get() or "")

    def instead_of(self, own: Any, name: str) -> tuple[Any, str]:
        """Return the model of this name, as in `Models.instead_of`."""
        return (own, name) if self._models is None else self._models.instead_of(own, name)


class RequestSettings(BasePlugin):
    """Writes a run's settings into each of its requests."""

    def __init__(self, settings: SettingsOfRuns) -> None:
        super().__init__("devui_request_settings")
        self._settings = settings

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Change the request in place."""
        settings = self._settings.now()
        if settings is not None:
            apply(settings, llm_request)


def apply(settings: RunSettings, request: LlmRequest) -> None:
    """Write the settings into a request, in place."""
    if settings.model is not None:
        request.model = settings.model
    for name in ("temperature", "top_p", "max_output_tokens"):
        if (value := getattr(settings, name)) is not None:
            setattr(request.config, name, value)
    if settings.instruction is not None:
        request.append_instructions([settings.instruction])


class OtherModel(BasePlugin):
    """The innermost plugin: calls the model of a run's settings instead of the agent's own."""

    def __init__(self, settings: SettingsOfRuns) -> None:
        super().__init__("devui_other_model")
        self._settings = settings

    def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Call that model, unless the request's model has been changed since."""
        settings = self._settings.now()
        if settings is None or settings.model is None or llm_request.model != settings.model:
            return proceed(llm_request)
        agent: Any = callback_context._invocation_context.agent
        own = agent.canonical_model
        other, llm_request.model = self._settings.instead_of(own, settings.model)
        if other is own:
            return proceed(llm_request)
        answers: AsyncGenerator[LlmResponse, None] = other.generate_content_async(
            llm_request, stream=stream
        )
        return answers


def llm_agents(node: BaseNode, kit: Kit) -> Iterator[LlmAgent]:
    """Yield the agents with a model, from a node down."""
    if isinstance(node, kit.llm_agent):
        yield node
    for below in kit.children(node):
        yield from llm_agents(below, kit)
