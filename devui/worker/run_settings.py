"""The settings of single runs: changes each model request of a run, and who answers it.

The plugin comes after the app's own and before the gates: a person who holds the request sees it
with its settings. A callback of the agent, which comes later still, may change them again.
"""

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.wire.settings import RunSettings
from devui.worker.engines.kit import BaseNode, Context, Kit, LlmAgent, LlmRequest, LlmResponse
from devui.worker.output import current_run


class Models:
    """The models that a run can be told to use: those of the app's agents, and all that the
    runtime knows by name."""

    def __init__(self, root: BaseNode, kit: Kit) -> None:
        self._root = root
        self._kit = kit
        self._by_name: dict[str, Any] = {}
        """Made once: a model keeps its connections."""

    def of_agents(self) -> Iterator[Any]:
        """The model objects of the app's agents."""
        for agent in llm_agents(self._root, self._kit):
            yield agent.canonical_model

    def instead_of(self, own: Any, name: str) -> tuple[Any, str]:
        """The model of this name, and the name without the prefix of a class (`litellm:…`).

        An agent's `own` also speaks to others of its kind. Raises ValueError or ImportError for a
        name that no class takes.
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
        """Choose among these models."""
        self._models = models

    def begin(self, run: str, settings: RunSettings) -> None:
        """This run has settings of its own."""
        self._settings[run] = settings

    def forget(self, run: str) -> None:
        """The run is over."""
        self._settings.pop(run, None)

    @property
    def at_work(self) -> bool:
        """Whether any run has settings of its own."""
        return bool(self._settings)

    def now(self) -> RunSettings | None:
        """Those of the run whose code is executing."""
        return self._settings.get(current_run.get() or "")

    def instead_of(self, own: Any, name: str) -> tuple[Any, str]:
        """As of `Models`."""
        return (own, name) if self._models is None else self._models.instead_of(own, name)


class RequestSettings(BasePlugin):
    """Writes the settings into each request."""

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
    """Write settings into a request."""
    if settings.model is not None:
        request.model = settings.model
    for name in ("temperature", "top_p", "max_output_tokens"):
        if (value := getattr(settings, name)) is not None:
            setattr(request.config, name, value)
    if settings.instruction is not None:
        request.append_instructions([settings.instruction])


class OtherModel(BasePlugin):
    """The innermost of all: asks the model of a run's settings in the place of the agent's own."""

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
        """Ask it, unless someone has changed the request's model since."""
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
    """The agents with a model, at a node and below it."""
    if isinstance(node, kit.llm_agent):
        yield node
    for below in kit.children(node):
        yield from llm_agents(below, kit)
