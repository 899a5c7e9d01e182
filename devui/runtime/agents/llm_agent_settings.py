"""What may be given to an `LlmAgent`, and what to do instead where it may not (adk-runtime 6.1)."""

import inspect
import warnings
from collections.abc import Mapping
from typing import Annotated, Any

from google.genai import types
from pydantic import AfterValidator, BaseModel, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.callbacks import check_callbacks
from devui.runtime.mistakes import given
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.planners.base_planner import BasePlanner
from devui.runtime.planners.built_in_planner import BuiltInPlanner
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.tools.finish_task_tool import NAME, FinishTaskTool
from devui.runtime.workflow.base_node import BaseNode

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


def refuse_misplaced(values: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Say where an argument belongs that LlmAgent does not have.

    Raises:
        ValueError: there is such an argument.
    """
    for name in sorted(values.keys() - known.keys()):
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
            f"`model` is {given(model)}; give the name of a model, or a BaseLlm such as"
            ' Gemini(model="...").'
        )
    if not isinstance(tools, list | tuple):
        raise ValueError(f"`tools` is {given(tools)}; put it into a list.")  # noqa: TRY004  pydantic tells ValueErrors
    _check_instructions(values)
    _check_schema(values.get("output_schema"))
    for name in ("planner", "code_executor"):
        if isinstance(values.get(name), type):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`{name}` is {given(values[name])}; make one by calling it."
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
            f"`output_schema` is {given(schema)}; give a pydantic class, a type such as list[str],"
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
                f"`{name}` is {given(text)}; give a text, or a function that takes a"
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
    if NAME in (_name(tool) for tool in tools):
        raise ValueError(
            f"A tool of an agent of mode 'task' cannot be named {NAME!r}: the agent gets one of"
            " that name to finish its task with. Give it another name."
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
        raise TypeError(f"The default model is {given(model)}; give a name or a BaseLlm.")
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
                f"`tools` holds {given(entry)}; make a tool by calling it."
            )
        if isinstance(entry, BaseNode):
            entry.for_tool().taken_as_tool()
        elif not isinstance(entry, BaseTool | BaseToolset) and not callable(entry):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`tools` holds {given(entry)}; give a function without calling it, a BaseTool or"
                " a BaseToolset."
            )
