"""What may be given to an `LlmAgent`, and what to do instead where it may not (adk-runtime 6.1)."""

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
"""For annotations; ADK's names."""


GenerationConfig = Annotated[
    types.GenerateContentConfig | None,
    AfterValidator(lambda config: config or types.GenerateContentConfig()),
]
"""Who says None gets a config that callbacks may fill; who says nothing has none."""

_INSTEAD = {
    "system_instruction": "`instruction`",
    "response_schema": "`output_schema`",
    "tools": "`tools`",
}
_TELL_THE_MODEL = 'tell the model where its service is, as in Gemini(model="...", base_url="...").'
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
"""The fields of the config, by their names in Python and in JSON."""
_ADDRESSES = ("base_url", "baseUrl")


def refuse_misplaced(values: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Say where an argument belongs that LlmAgent does not have.

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
    """Refuse what is of the wrong kind altogether.

    Raises:
        ValueError: the model, the tools, a text, a schema, a planner, a code executor or a
            callback cannot be used as such.
    """
    model, tools = values.get("model", ""), values.get("tools", [])
    if not isinstance(model, str | BaseLlm):
        raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
            f"`model` is {brief(model)}; give the name of a model, or a BaseLlm such as"
            ' Gemini(model="...").'
        )
    if not isinstance(tools, list | tuple):
        raise ValueError(f"`tools` is {brief(tools)}; put it into a list.")  # noqa: TRY004  pydantic tells ValueErrors
    _check_instructions(values)
    _check_schema(values.get("output_schema"))
    for name in ("planner", "code_executor"):
        if isinstance(values.get(name), type):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`{name}` is {brief(values[name])}; make one by calling it."
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
            f"`output_schema` is {brief(schema)}; give a pydantic class, a type such as list[str],"
            " or a JSON schema."
        )


def _is_known_to_pydantic(schema: Any) -> bool:
    try:
        TypeAdapter(schema)
    except PydanticSchemaGenerationError:
        return False
    except (NameError, PydanticUserError):  # what it names may be defined later on
        return True
    return True


def _check_instructions(values: Mapping[str, Any]) -> None:
    for name in ("instruction", "global_instruction"):
        text = values.get(name, "")
        if not isinstance(text, str) and not callable(text):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`{name}` is {brief(text)}; give a text, or a function that takes a"
                " ReadonlyContext and returns one."
            )


def check_mode(mode: str | None) -> None:
    """Refuse what is no mode.

    Raises:
        ValueError: there is no such mode.
    """
    if mode not in {None, "chat", "single_turn", "task"}:
        raise ValueError(f"There is no mode {mode!r}; use 'chat', 'single_turn' or 'task'.")


def check_task(tools: list[Any], output_schema: Any) -> None:
    """Refuse what keeps an agent from finishing a task.

    Raises:
        ValueError: a tool has the name of the finishing one, or the schema cannot be declared.
    """
    if FINISH_TASK in (_name(tool) for tool in tools):
        raise ValueError(
            f"A tool of an agent of mode 'task' cannot be named {FINISH_TASK!r}: the agent gets"
            " one of that name to finish its task with. Give it another name."
        )
    try:
        FinishTaskTool(output_schema)
    except PydanticUserError as error:
        raise ValueError(
            f"The output_schema {output_schema!r:.200} cannot be told to a model; give a pydantic"
            f" model, a type such as list[str], or a JSON schema. {error.message}"
        ) from error


def no_parent_of_tasks(name: str, parent: str) -> str:
    """What is wrong with a task agent below an agent that cannot give it tasks."""
    return (
        f"Agent {name!r} of mode 'task' cannot be a sub-agent of {parent!r}: its tasks come from"
        " the model of an agent above it that can wait while it talks with the user. Put it below"
        " an LlmAgent of mode 'chat' or 'task', or give it another mode."
    )


def _name(tool: Any) -> str:
    if isinstance(tool, BaseTool):
        return tool.name
    return str(tool.__name__) if inspect.isroutine(tool) else ""


def check_default_model(model: Any) -> None:
    """Refuse what cannot be the model of agents that have none.

    Raises:
        TypeError: it is neither a name nor a model.
        ValueError: the name is empty.
    """
    if not isinstance(model, str | BaseLlm):
        raise TypeError(f"The default model is {brief(model)}; give a name or a BaseLlm.")
    if not model:
        raise ValueError("The default model has no name; give one, or a BaseLlm.")


def check_config(
    config: types.GenerateContentConfig | None, planner: BasePlanner | None = None
) -> None:
    """Refuse generation settings that are the agent's own business.

    Warns of settings for thinking that those of the planner replace.

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
            "generate_content_config has a thinking_config, and so has the planner; that of the"
            " planner is used. Leave the other out.",
            stacklevel=5,
        )


def check_tools(tools: list[Any]) -> None:
    """Refuse what is no tool.

    Raises:
        ValueError: an entry is an agent or a class, cannot be called, or does not tell what it
            takes.
    """
    for entry in tools:
        if isinstance(entry, BaseAgent):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`tools` holds the agent {entry.name!r}; put it into `sub_agents` to transfer to"
                " it, or into an AgentTool to call it."
            )
        if isinstance(entry, type) and issubclass(entry, BaseTool | BaseToolset | BaseNode):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`tools` holds {brief(entry)}; make a tool by calling it."
            )
        if isinstance(entry, BaseNode):
            entry.for_tool().taken_as_tool()
        elif not isinstance(entry, BaseTool | BaseToolset) and not callable(entry):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`tools` holds {brief(entry)}; give a function without calling it, a BaseTool or"
                " a BaseToolset."
            )


async def provided(instruction: Callable[..., Any], ctx: ReadonlyContext) -> tuple[str, bool]:
    """The text that the function gives, and that it is to be left as it is.

    Raises TypeError for a function that does not take a context, or gives no text.
    """
    check_takes(instruction, 1, "a ReadonlyContext", f"the instruction of agent {ctx.agent_name!r}")
    try:
        text = await call(instruction, ctx)
    except (AttributeError, TypeError) as error:
        if "mappingproxy" in str(error):  # what the context's mappings are
            error.add_note(
                f"{place(instruction)} gets a context that can only be read; write state in a"
                " callback, such as before_agent_callback, or in a tool."
            )
        raise
    if text is not None and not isinstance(text, str):
        raise TypeError(
            f"The instruction of agent {ctx.agent_name!r}, {place(instruction)}, returned"
            f" {brief(text)}; it must return a text."
        )
    return text or "", True


InstructionProvider = Callable[..., Any]
ToolUnion = Callable[..., Any] | BaseTool | BaseToolset
"""What `tools` may hold; for annotations, by ADK's name."""
Instruction = str | InstructionProvider


class LlmAgentSettings(BaseAgent):
    """What an `LlmAgent` is made with, and what that stands for: as flows and tasks know it.

    Each callback is a function or a list of functions; of a list, the first answer counts.
    """

    DEFAULT_MODEL: ClassVar[str] = "gemini-3.5-flash"
    """The model of agents for which none is named, neither their own nor above them."""
    _default_model: ClassVar[str | BaseLlm] = DEFAULT_MODEL

    model: str | BaseLlm = ""
    """A model's name or a model; without one, that of the nearest agent above."""
    instruction: Instruction = ""
    """What the model is told to do. In a text `{key}` is filled from the state; a function gets
    a ReadonlyContext and returns the text, which is left as it is."""
    global_instruction: Instruction = ""
    """An instruction for all agents of the tree; only that of the root counts."""
    static_instruction: Any = None
    """What never changes, sent first and as it is, so that providers can cache it: text or
    Content. The `instruction` then goes to the contents."""
    tools: list[Any] = Field(default_factory=list)
    """Functions, tools, toolsets and nodes, such as a Workflow, that the model may call."""
    generate_content_config: GenerationConfig = None
    """Temperature, safety settings and the like."""
    disallow_transfer_to_parent: bool = False
    """Keep the model from handing over to the agent above."""
    disallow_transfer_to_peers: bool = False
    """Keep the model from handing over to the other sub-agents of the agent above."""
    include_contents: Literal["default", "none"] = "default"
    """`none`: the model sees the current turn only."""
    parallel_worker: bool | None = None
    """As a node of a graph, run for each item of its input, at the same time."""
    mode: str | None = None
    """`chat`: talks with the user and hands over by transfer, the default. `single_turn`: as a
    sub-agent, is called by its parent's model like a function and answers once. `task`: is called
    in the same way, may talk with the user, and answers with the tool `finish_task`."""
    input_schema: type[BaseModel] | None = None
    """What the agent takes when another agent calls it like a function."""
    output_schema: Any = None
    """The shape of the answer: a pydantic model, a list of one, a type or a JSON schema."""
    output_key: str | None = None
    """The state key that keeps the answer."""
    planner: BasePlanner | None = None
    """How the model thinks before it acts."""
    code_executor: BaseCodeExecutor | None = None
    """Runs the code that the model writes."""

    before_model_callback: Any = None
    """Called with `callback_context` and `llm_request`; an LlmResponse stands for the model's."""
    after_model_callback: Any = None
    """Called with `callback_context` and `llm_response`, fragments too; may replace it."""
    on_model_error_callback: Any = None
    """Called with `callback_context`, `llm_request` and `error`; an LlmResponse recovers."""
    before_tool_callback: Any = None
    """Called with `tool`, `args` and `tool_context`; a dict stands for the tool's result."""
    after_tool_callback: Any = None
    """Called with `tool`, `args`, `tool_context` and `tool_response`; a dict replaces it."""
    on_tool_error_callback: Any = None
    """Called with `tool`, `args`, `tool_context` and `error`; a dict recovers."""

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
        """The model for one call, which is what the flow asks for: `canonical_model`.

        A class of one's own may choose by the state (adk-runtime 6.1).
        """
        return self.canonical_model

    async def canonical_instruction(self, ctx: ReadonlyContext) -> tuple[str, bool]:
        """The instruction, and whether it is to be left as it is."""
        text = self.instruction
        return (text, False) if isinstance(text, str) else await provided(text, ctx)

    async def canonical_global_instruction(self, ctx: ReadonlyContext) -> tuple[str, bool]:
        """The instruction for the tree, and whether it is to be left as it is."""
        text = self.global_instruction
        return (text, False) if isinstance(text, str) else await provided(text, ctx)

    async def canonical_tools(self, ctx: ReadonlyContext | None = None) -> list[BaseTool]:
        """All tools that the agent's model may call; an `LlmAgent` knows them."""
        raise NotImplementedError(f"{type(self).__name__} does not define canonical_tools.")

    @property
    def sub_agents_as_tools(self) -> list[BaseTool]:
        """The sub-agents that this agent's model calls like functions, as tools."""
        return []

    @property
    def answers_once(self) -> bool:
        """Whether the agent is called like a function and gets no more words than those."""
        return self.mode == "single_turn" and self.is_called_by_model

    @property
    def root_llm_agent(self) -> LlmAgentSettings | None:
        """The root of the tree, if it is an agent with a model."""
        root = self.root_agent
        return root if isinstance(root, LlmAgentSettings) else None


def _model_of_name(agent: LlmAgentSettings, name: str) -> BaseLlm:
    """The model of that name, made once: it keeps connections."""
    if agent._named_model is None or agent._named_model_name != name:
        agent._named_model = LLMRegistry.new_llm(name)
        agent._named_model_name = name
    return agent._named_model
