"""`SkillToolset`: skills for an agent, read by its model when they are needed (agentskills.io)."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.skills.models import Skill
from devui.runtime.skills.prompt import format_skills_as_xml
from devui.runtime.skills.skill_registry import SkillRegistry
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, ToolFilter
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.skill_instruction import (
    LIST_SKILLS,
    RUN_SKILL_SCRIPT,
    SEARCH_SKILLS,
    skill_instruction,
)
from devui.runtime.tools.skill_script_tool import RunSkillScriptTool, executor_of
from devui.runtime.tools.skill_tools import (
    ListSkillsTool,
    LoadSkillResourceTool,
    LoadSkillTool,
    SearchSkillsTool,
    SkillTool,
)

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.readonly_context import ReadonlyContext
    from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor

DEFAULT_SKILL_SYSTEM_INSTRUCTION = skill_instruction()
"""What a model is told when all tools of skills are there."""

_SCRIPT_SECONDS = 300
_MAX_FETCHED = 64


class SkillDiscoveryMode(Enum):
    """How the model learns which skills there are."""

    LAZY = "lazy"
    """It calls `list_skills`."""
    EAGER = "eager"
    """They stand in the system instruction, and there is no `list_skills`."""


class SkillToolset(BaseToolset):
    """Tools to list, read and run skills; those that a skill names come when it has been read."""

    def __init__(
        self,
        skills: list[Skill] | None = None,
        *,
        registry: SkillRegistry | None = None,
        code_executor: "BaseCodeExecutor | None" = None,
        script_timeout: int = _SCRIPT_SECONDS,
        additional_tools: Sequence[BaseTool | BaseToolset | Callable[..., Any]] | None = None,
        tool_name_prefix: str | None = None,
        tool_filter: ToolFilter | None = None,
        discovery_mode: SkillDiscoveryMode = SkillDiscoveryMode.LAZY,
    ) -> None:
        """Choose the skills.

        Args:
            skills: Skills to offer; `devui.runtime.skills.load_skill_from_dir` reads them.
            registry: Where to look for more of them.
            code_executor: Runs their scripts; else the agent's does.
            script_timeout: How long a shell script may take, in seconds.
            additional_tools: Tools that skills name in `adk_additional_tools`; offered when such
                a skill has been read in the session.
            tool_name_prefix: Put before each name, with an underscore.
            tool_filter: The names of the tools to offer, or a predicate.
            discovery_mode: How the model learns which skills there are.

        Raises:
            ValueError: two skills have one name.
        """
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        self._skills = {skill.name: skill for skill in skills or []}
        if len(self._skills) < len(skills or []):
            raise ValueError("Two skills of a SkillToolset have the same name.")
        self.registry = registry
        self.code_executor = code_executor
        self._additional = list(additional_tools or [])
        self._discovery_mode = discovery_mode
        self._fetched: dict[tuple[str, str], Skill] = {}
        lazy = discovery_mode is SkillDiscoveryMode.LAZY
        self._tools: list[SkillTool] = [
            *([ListSkillsTool(self)] if lazy else []),
            LoadSkillTool(self),
            LoadSkillResourceTool(self),
            RunSkillScriptTool(self, script_timeout),
            *([SearchSkillsTool(self, registry)] if registry else []),
        ]

    @property
    def skills(self) -> list[Skill]:
        """The skills it was given."""
        return list(self._skills.values())

    def list_active_skills(self, ctx: "ReadonlyContext") -> list[str]:
        """The skills that the agent has read in this session, in that order."""
        return list(ctx.state.get(_state_key(ctx.agent_name)) or [])

    async def get_tools_with_prefix(
        self, readonly_context: "ReadonlyContext | None" = None
    ) -> list[BaseTool]:
        """`get_tools` under prefixed names; asked each time, since reading a skill adds some."""
        self._listed = None
        return await super().get_tools_with_prefix(readonly_context)

    async def get_tools(self, readonly_context: "ReadonlyContext | None" = None) -> list[BaseTool]:
        """The tools of skills, and those that the active ones name."""
        runs = self._runs_scripts(readonly_context)
        own: list[BaseTool] = [t for t in self._tools if runs or t.name != RUN_SKILL_SCRIPT]
        named = await self._named_by_active(readonly_context)
        taken = {tool.name for tool in self._tools}
        tools = [*own, *(tool for tool in named if tool.name not in taken)]
        return [tool for tool in tools if self._is_tool_selected(tool, readonly_context)]

    async def process_llm_request(
        self, *, tool_context: "Context", llm_request: LlmRequest
    ) -> None:
        """Tell the model how to use skills and, unless it can list them, which there are."""
        offered = {t.name for t in self._tools if self._is_tool_selected(t, tool_context)}
        if self._discovery_mode is SkillDiscoveryMode.EAGER:
            offered.add(LIST_SKILLS)  # nobody misses it
        told = [
            skill_instruction(
                prefix=self.tool_name_prefix,
                offered=offered,
                runs_scripts=self._runs_scripts(tool_context),
            )
        ]
        if self._discovery_mode is SkillDiscoveryMode.EAGER or LIST_SKILLS not in offered:
            told.append(format_skills_as_xml(self.skills))
        if SEARCH_SKILLS in offered:
            prefix = f"{self.tool_name_prefix}_" if self.tool_name_prefix else ""
            told.append(f"If none of these skills fits, look for one by `{prefix}{SEARCH_SKILLS}`.")
        llm_request.append_instructions(told)

    async def find(self, name: str, invocation_id: str) -> Skill | None:
        """The skill of that name; the registry is asked once in an invocation."""
        if name in self._skills or self.registry is None:
            return self._skills.get(name)
        key = (invocation_id, name)
        if key not in self._fetched:
            skill = await self.registry.get_skill(name=name)
            if len(self._fetched) >= _MAX_FETCHED:
                del self._fetched[next(iter(self._fetched))]
            self._fetched[key] = skill
        return self._fetched[key]

    def activate(self, name: str, context: "Context") -> None:
        """Remember in the session that the agent has read the skill."""
        active = self.list_active_skills(context)
        if name not in active:
            context.state[_state_key(context.agent_name)] = [*active, name]

    async def close(self) -> None:
        """Close the toolsets among the additional tools."""
        for entry in self._additional:
            if isinstance(entry, BaseToolset):
                await entry.close()

    def _runs_scripts(self, context: "ReadonlyContext | None") -> bool:
        """Whether there is a script to run and something to run it; unknown counts as yes."""
        if context is None:
            return True
        if self.code_executor is None and executor_of(context) is None:
            return False
        return self.registry is not None or any(s.resources.scripts for s in self.skills)

    async def _named_by_active(self, context: "ReadonlyContext | None") -> list[BaseTool]:
        if context is None:
            return []
        names: dict[str, None] = {}
        for name in self.list_active_skills(context):
            skill = await self.find(name, context.invocation_id)
            if skill is not None:
                names.update(
                    dict.fromkeys(skill.frontmatter.metadata.get("adk_additional_tools") or [])
                )
        if not names:
            return []
        known = {tool.name: tool for tool in await self._additional_tools(context)}
        return [known[name] for name in names if name in known]

    async def _additional_tools(self, context: "ReadonlyContext") -> list[BaseTool]:
        found: list[BaseTool] = []
        for entry in self._additional:
            if isinstance(entry, BaseToolset):
                found += await entry.get_tools_with_prefix(context)
            else:
                found.append(entry if isinstance(entry, BaseTool) else FunctionTool(entry))
        return found


def _state_key(agent: str) -> str:
    return f"_adk_activated_skill_{agent}"
