"""The settings of an `LlmAgent`, and the checks that refuse invalid ones (adk-runtime 6.1)."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from google.genai import types
from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.context import ReadonlyContext
from devui.runtime.agents.invocation_events import FINISH_TASK
from devui.runtime.calling import Callback, Callbacks, as_list, call, check_callbacks
from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
from devui.runtime.mistakes import brief, check_takes, place
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.models.registry import LLMRegistry
from devui.runtime.planners import BasePlanner, BuiltInPlanner
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.tools.finish_task_tool import FinishTaskTool
from devui.runtime.workflow.base_node import BaseNode

BeforeModelCallback = AfterModelCallback = OnModelErrorCallback = Callbacks
BeforeToolCallback = AfterToolCallback = OnToolErrorCallback = Callbacks
"""Types for annotations, under ADK's names."""


GenerationConfig = Annotated[
    types.GenerateContentConfig | None,
    AfterValidator(lambda config: config or types.GenerateContentConfig()),
]
"""An explicit None becomes an empty config that callbacks may fill; the default stays None."""

_INSTEAD = {
    "system_instruction": "`instruction`",
    "response_schema": "`output_schema`",
    "tools": "`tools`",
}
_TELL_THE_MODEL = 'set it on the model, as in Gemini(model="...", base_url="...").'
_NO_SCHEMAS = (str, bytes, int, float, list, tuple, set, BaseModel)
_CALLBACKS = tuple(
    f"{when}_callback"
    for when in (
        *("before_model", "after_model", "on_model_error"),
        *("before_tool", "after_tool", "on_tool_error"),
    )
)
_CONFIG_NAMES = {
    name: field
    for field, info in types.GenerateContentConfig.model_fields.items()
    for name in (field, info.alias or field)
}
"""The config's fields, by their names in Python and in JSON."""
_ADDRESSES = ("base_url", "baseUrl")


def refuse_misplaced(values: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Refuse arguments that LlmAgent doesn't have, and say where they belong.

    Raises:
        ValueError: there is such an argument.
    """
    for name in sorted(values.keys() - fields.keys()):
        if instead := _INSTEAD.get(_CONFIG_NAMES.get(name, name)):
            raise ValueError(f"LlmAgent has no `{name}`; use {instead}.")
        if name in _ADDRESSES:
            raise ValueError(f"LlmAgent has no `{name}`; {_TELL_THE_MODEL}")
        if name in _CONFIG_NAMES:
            raise ValueError(
                f"LlmAgent has no `{name}`; put it into generate_content_config:"
                f" types.GenerateContentConfig({name}=...)."
            )


def check_given(values: Mapping[str, Any]) -> None:
    """Check the types of the arguments.

    Raises:
        ValueError: the model, the tools, an instruction, a schema, a planner, a code executor or a
            callback has the wrong type.
    """
    model, tools = values.get("model", ""), values.get("tools", [])
    if not isinstance(model, str | BaseLlm):
        raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
            f"`model` is {brief(model)}; pass the name of a model, or a BaseLlm such as"
            ' Gemini(model="...").'
        )
    if not isinstance(tools, list | tuple):
        raise ValueError(f"`tools` is {brief(tools)}; pass a list of tools.")  # noqa: TRY004
    _check_instructions(values)
    _check_schema(values.get("output_schema"))
    for name in ("planner", "code_executor"):
        if isinstance(values.get(name), type):
            raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
                f"`{name}` is {brief(values[name])}; pass an instance, made by calling it."
            )
    for name in _CALLBACKS:
        check_callbacks(name, values.get(name))


def _check_schema(schema: Any) -> None:
    if schema is None or isinstance(schema, dict | types.Schema):
        return
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return
    if isinstance(schema, _NO_SCHEMAS) or not _is_known_to_pydantic(schema):
        raise ValueError(
            f"`output_schema` is {brief(schema)}; pass a pydantic class, a type such as list[str],"
            " or a JSON schema."
        )


def _is_known_to_pydantic(schema: Any) -> bool:
    try:
        TypeAdapter(schema)
    except PydanticSchemaGenerationError:
        return False
    except (NameError, PydanticUserError):  # a name in it may be defined later
        return True
    return True


def _check_instructions(values: Mapping[str, Any]) -> None:
    for name in ("instruction", "global_instruction"):
        text = values.get(name, "")
        if not isinstance(text, str) and not callable(text):
            raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
                f"`{name}` is {brief(text)}; pass a string, or a function that takes a"
                " ReadonlyContext and returns one."
            )


def check_mode(mode: str | None) -> None:
    """Raise ValueError for an unknown mode."""
    if mode not in {None, "chat", "single_turn", "task"}:
        raise ValueError(f"There is no mode {mode!r}; use 'chat', 'single_turn' or 'task'.")


def check_task(tools: list[Any], output_schema: Any) -> None:
    """Refuse settings that would keep an agent from finishing a task.

    Raises:
        ValueError: a tool is named `finish_task`, or the schema cannot be declared.
    """
    if FINISH_TASK in (_name(tool) for tool in tools):
        raise ValueError(
            f"An agent of mode 'task' cannot have a tool named {FINISH_TASK!r}: that is the"
            " built-in tool which finishes its task. Rename the tool."
        )
    try:
        FinishTaskTool(output_schema)
    except PydanticUserError as error:
        raise ValueError(
            f"The output_schema {output_schema!r:.200} cannot be described to a model; pass a"
            f" pydantic model, a type such as list[str], or a JSON schema. {error.message}"
        ) from error


def no_parent_of_tasks(name: str, parent: str) -> str:
    """Return the error message for a task agent below an agent that cannot give it tasks."""
    return (
        f"Agent {name!r} of mode 'task' cannot be a sub-agent of {parent!r}: its tasks must come"
        " from the model of a parent that can wait while it talks with the user. Put it below an"
        " LlmAgent of mode 'chat' or 'task', or give it another mode."
    )


def _name(tool: Any) -> str:
    if isinstance(tool, BaseTool):
        return tool.name
    return str(tool.__name__) if inspect.isroutine(tool) else ""


def check_default_model(model: Any) -> None:
    """Check the model that agents without one will use.

    Raises:
        TypeError: it is neither a name nor a model.
        ValueError: the name is empty.
    """
    if not isinstance(model, str | BaseLlm):
        raise TypeError(f"The default model is {brief(model)}; pass a name or a BaseLlm.")
    if not model:
        raise ValueError("The name of the default model is empty; pass a name or a BaseLlm.")


def check_config(
    config: types.GenerateContentConfig | None, planner: BasePlanner | None = None
) -> None:
    """Refuse generation settings that have a field of their own on the agent or its model.

    Warns of a thinking config that the planner's replaces.

    Raises:
        ValueError: the config sets tools, a system instruction, a response schema or an address.
    """
    if config is None:
        return
    for name, instead in _INSTEAD.items():
        if name in config.model_fields_set and dict(config)[name]:
            raise ValueError(
                f"generate_content_config must not set `{name}`; use the agent's {instead}."
            )
    if config.http_options is not None and config.http_options.base_url:
        raise ValueError(
            f"generate_content_config must not set `http_options.base_url`; {_TELL_THE_MODEL}"
        )
    if config.thinking_config and isinstance(planner, BuiltInPlanner):
        warnings.warn(
            "Both generate_content_config and the planner have a thinking_config; the planner's is"
            " used. Remove the other.",
            stacklevel=5,
        )


def check_tools(tools: list[Any]) -> None:
    """Check that all entries can be used as tools.

    Raises:
        ValueError: an entry is an agent or a class, cannot be called, or doesn't declare its input.
    """
    for entry in tools:
        if isinstance(entry, BaseAgent):
            raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
                f"`tools` contains the agent {entry.name!r}; put it into `sub_agents` to transfer"
                " to it, or wrap it in an AgentTool to call it."
            )
        if isinstance(entry, type) and issubclass(entry, BaseTool | BaseToolset | BaseNode):
            raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
                f"`tools` contains {brief(entry)}; pass an instance, made by calling it."
            )
        if isinstance(entry, BaseNode):
            entry.for_tool().taken_as_tool()
        elif not isinstance(entry, BaseTool | BaseToolset) and not callable(entry):
            raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
                f"`tools` contains {brief(entry)}; pass a function (without calling it), a"
                " BaseTool or a BaseToolset."
            )


async def provided(instruction: Callable[..., Any], ctx: ReadonlyContext) -> tuple[str, bool]:
    """Return the function's text, and True, since placeholders in it are left as they are.

    Raises TypeError for a function that takes no context or returns no text.
    """
    check_takes(instruction, 1, "a ReadonlyContext", f"the instruction of agent {ctx.agent_name!r}")
    try:
        text = await call(instruction, ctx)
    except (AttributeError, TypeError) as error:
        if "mappingproxy" in str(error):  # the type of the context's mappings
            error.add_note(
                f"{place(instruction)} gets a read-only context; write state in a callback, such as"
                " before_agent_callback, or in a tool."
            )
        raise
    if text is not None and not isinstance(text, str):
        raise TypeError(
            f"The instruction of agent {ctx.agent_name!r}, {place(instruction)}, returned"
            f" {brief(text)}; it must return a string."
        )
    return text or "", True


InstructionProvider = Callable[..., Any]
ToolUnion = Callable[..., Any] | BaseTool | BaseToolset
"""The type of an entry of `tools`, for annotations, under ADK's name."""
Instruction = str | InstructionProvider


class LlmAgentSettings(BaseAgent):
    """The settings of an `LlmAgent` and their resolved values, for flows and tasks.

    Each callback is a function or a list of functions; in a list, the first answer counts.
    """

    DEFAULT_MODEL: ClassVar[str] = "gemini-3.5-flash"
    """The model of agents that neither have one nor inherit one from above."""
    _default_model: ClassVar[str | BaseLlm] = DEFAULT_MODEL

    model: str | BaseLlm = ""
    """A model or its name; without one, the model of the nearest agent above."""
    instruction: Instruction = ""
    """Tells the model what to do. In a string, `{key}` is filled from the state. A function gets a
    ReadonlyContext and returns the text, which is used as is."""
    global_instruction: Instruction = ""
    """An instruction for all agents of the tree; only the root's counts."""
    static_instruction: Any = None
    """Text or Content that never changes, sent first and as is, so that providers can cache it. The
    `instruction` is then sent with the contents."""
    tools: list[Any] = Field(default_factory=list)
    """Functions, tools, toolsets and nodes, such as a Workflow, that the model may call."""
    generate_content_config: GenerationConfig = None
    """Temperature, safety settings and the like."""
    disallow_transfer_to_parent: bool = False
    """Whether to keep the model from handing over to the agent above."""
    disallow_transfer_to_peers: bool = False
    """Whether to keep the model from handing over to the other sub-agents of the agent above."""
    include_contents: Literal["default", "none"] = "default"
    """`none`: the model sees the current turn only."""
    parallel_worker: bool | None = None
    """Whether the agent, as a node of a graph, runs for all items of its input in parallel."""
    mode: str | None = None
    """`chat`, the default: talks with the user and hands over by transfer. `single_turn`: as a
    sub-agent, is called by its parent's model like a function, and answers once. `task`: is called
    in the same way, may talk with the user, and answers with the tool `finish_task`."""
    input_schema: type[BaseModel] | None = None
    """The input of the agent when another agent calls it like a function."""
    output_schema: Any = None
    """The shape of the answer: a pydantic model, a list of one, a type or a JSON schema."""
    output_key: str | None = None
    """The state key under which the answer is stored."""
    planner: BasePlanner | None = None
    """Controls how the model thinks before it acts."""
    code_executor: BaseCodeExecutor | None = None
    """Runs the code that the model writes."""

    before_model_callback: Any = None
    """Called with `callback_context` and `llm_request`; a returned LlmResponse is the answer."""
    after_model_callback: Any = None
    """Called with `callback_context` and `llm_response`, also for fragments; may replace it."""
    on_model_error_callback: Any = None
    """Called with `callback_context`, `llm_request` and `error`; a returned LlmResponse
    recovers."""
    before_tool_callback: Any = None
    """Called with `tool`, `args` and `tool_context`; a returned dict is the result."""
    after_tool_callback: Any = None
    """Called with `tool`, `args`, `tool_context` and `tool_response`; a dict replaces the
    result."""
    on_tool_error_callback: Any = None
    """Called with `tool`, `args`, `tool_context` and `error`; a returned dict is the result."""

    @property
    def canonical_before_model_callbacks(self) -> list[Callback]:
        """`before_model_callback` as a list."""
        return as_list(self.before_model_callback)

    @property
    def canonical_after_model_callbacks(self) -> list[Callback]:
        """`after_model_callback` as a list."""
        return as_list(self.after_model_callback)

    @property
    def canonical_on_model_error_callbacks(self) -> list[Callback]:
        """`on_model_error_callback` as a list."""
        return as_list(self.on_model_error_callback)

    @property
    def canonical_before_tool_callbacks(self) -> list[Callback]:
        """`before_tool_callback` as a list."""
        return as_list(self.before_tool_callback)

    @property
    def canonical_after_tool_callbacks(self) -> list[Callback]:
        """`after_tool_callback` as a list."""
        return as_list(self.after_tool_callback)

    @property
    def canonical_on_tool_error_callbacks(self) -> list[Callback]:
        """`on_tool_error_callback` as a list."""
        return as_list(self.on_tool_error_callback)

    _named_model: BaseLlm | None = PrivateAttr(default=None)
    _named_model_name: str = PrivateAttr(default="")

    @property
    def canonical_model(self) -> BaseLlm:
        """The model: this agent's, else that of the nearest agent above, else the default.

        Raises:
            ValueError: no class is known for the model's name.
        """
        if model := self.model:
            return _model_of_name(self, model) if isinstance(model, str) else model
        ancestor = self.parent_agent
        while ancestor is not None:
            if isinstance(ancestor, LlmAgentSettings):
                return ancestor.canonical_model
            ancestor = ancestor.parent_agent
        default = LlmAgentSettings._default_model
        return default if isinstance(default, BaseLlm) else _model_of_name(self, default)

    async def canonical_model_async(self, ctx: ReadonlyContext) -> BaseLlm:
        """Return the model for one call, by default `canonical_model`; flows call this.

        Subclasses may choose by the state (adk-runtime 6.1).
        """
        return self.canonical_model

    async def canonical_instruction(self, ctx: ReadonlyContext) -> tuple[str, bool]:
        """Return the instruction, and whether to use it as is."""
        text = self.instruction
        return (text, False) if isinstance(text, str) else await provided(text, ctx)

    async def canonical_global_instruction(self, ctx: ReadonlyContext) -> tuple[str, bool]:
        """Return the instruction for the tree, and whether to use it as is."""
        text = self.global_instruction
        return (text, False) if isinstance(text, str) else await provided(text, ctx)

    async def canonical_tools(self, ctx: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return all tools that the agent's model may call; `LlmAgent` implements this."""
        raise NotImplementedError(f"{type(self).__name__} does not define canonical_tools.")

    @property
    def sub_agents_as_tools(self) -> list[BaseTool]:
        """The sub-agents that this agent's model calls like functions, as tools."""
        return []

    @property
    def answers_once(self) -> bool:
        """Whether the agent is called like a function and gets no further messages."""
        return self.mode == "single_turn" and self.is_called_by_model

    @property
    def root_llm_agent(self) -> LlmAgentSettings | None:
        """The root of the tree, if it is an agent with a model."""
        root = self.root_agent
        return root if isinstance(root, LlmAgentSettings) else None


def _model_of_name(agent: LlmAgentSettings, name: str) -> BaseLlm:
    """Return the model of that name, created once because it keeps connections."""
    if agent._named_model is None or agent._named_model_name != name:
        agent._named_model = LLMRegistry.new_llm(name)
        agent._named_model_name = name
    return agent._named_model
