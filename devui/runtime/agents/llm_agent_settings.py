"""What may be given to an `LlmAgent`, and what to do instead where it may not."""

from collections.abc import Mapping
from typing import Any

from google.genai import types

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset

_INSTEAD = {
    "system_instruction": "`instruction`",
    "response_schema": "`output_schema`",
    "tools": "`tools`",
}
_ELSEWHERE = _INSTEAD | {"parallel_worker": "node(agent, parallel_worker=True)"}
_CONFIG_NAMES = {
    name
    for field, info in types.GenerateContentConfig.model_fields.items()
    for name in (field, info.alias or field)
}


def refuse_unknown(given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Say what to do with an argument that LlmAgent does not have.

    Raises:
        ValueError: there is such an argument.
    """
    for name in given.keys() - known.keys():
        if instead := _ELSEWHERE.get(name):
            raise ValueError(f"LlmAgent has no `{name}`; use {instead}.")
        if name in _CONFIG_NAMES:
            raise ValueError(
                f"LlmAgent has no `{name}`; put it into generate_content_config:"
                f" types.GenerateContentConfig({name}=...)."
            )


def check_mode(mode: str | None) -> None:
    """Refuse modes of graph workflows.

    Raises:
        ValueError: the mode is `task`, or none at all.
    """
    if mode == "task":
        raise ValueError(
            "mode='task' is not supported in this version; use 'single_turn' for an agent that"
            " needs no more words of the user, and 'chat' for one that talks with the user."
        )
    if mode not in {None, "chat", "single_turn"}:
        raise ValueError(f"There is no mode {mode!r}; use 'chat' or 'single_turn'.")


def check_config(config: types.GenerateContentConfig | None) -> None:
    """Refuse generation settings that are the agent's own business.

    Raises:
        ValueError: the config sets tools, a system instruction or a response schema.
    """
    if config is None:
        return
    for name, instead in _INSTEAD.items():
        if name in config.model_fields_set and dict(config)[name]:
            raise ValueError(
                f"generate_content_config must not set `{name}`; use the agent's {instead}."
            )


def check_tools(tools: list[Any]) -> None:
    """Refuse what is no tool.

    Raises:
        ValueError: an entry is an agent, or cannot be called.
    """
    for entry in tools:
        if isinstance(entry, BaseAgent):
            reason = "is an agent; put it into `sub_agents` to transfer to it, or into an AgentTool"
        elif not isinstance(entry, BaseTool | BaseToolset) and not callable(entry):
            reason = "cannot be called; give a function, a BaseTool or a BaseToolset"
        else:
            continue
        raise ValueError(f"{entry!r:.200} is no tool: it {reason}.")
