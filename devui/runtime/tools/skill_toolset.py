"""`SkillToolset`: skills for an agent, which its model reads when needed (agentskills.io)."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devui.runtime.closing import take_all
from devui.runtime.mistakes import brief
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.skills.models import Skill, SkillRegistry, format_skills_as_xml
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, ToolFilter, toolsets_of
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.node_tool import NodeTool
from devui.runtime.tools.skill_script_tool import (
    RunSkillCommandTool,
    RunSkillScriptTool,
    SkillWorkspace,
    executor_of,
)
from devui.runtime.tools.skill_tools import (
    LIST_SKILLS,
    RUN_SKILL_SCRIPT,
    SEARCH_SKILLS,
    ActiveSkills,
    ListSkillsTool,
    LoadSkillResourceTool,
    LoadSkillTool,
    SearchSkillsTool,
    SkillLifecycleConfig,
    SkillLifecycleMode,
    SkillTool,
    digest,
    skill_instruction,
)
from devui.runtime.workflow.base_node import BaseNode

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context, ReadonlyContext
    from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
    from devui.runtime.environment import BaseEnvironment

__all__ = ["SkillDiscoveryMode", "SkillLifecycleConfig", "SkillLifecycleMode", "SkillToolset"]

logger = logging.getLogger(__name__)

DEFAULT_SKILL_SYSTEM_INSTRUCTION = skill_instruction()
"""The instruction for a model when all tools for skills are offered."""

__path__: list[str] = []
"""Allows a failed import from this module to be explained, like one from a package."""

_SCRIPT_SECONDS = 300
_MAX_FETCHED = 64


class SkillDiscoveryMode(Enum):
    """How the model learns which skills are available."""

    LAZY = "lazy"
    """It calls `list_skills`."""
    EAGER = "eager"
    """They are in the system instruction, and `list_skills` isn't offered."""


class SkillToolset(BaseToolset):
    """Tools to list, read and run skills. A loaded skill can add the tools it names."""

    _use_invocation_cache = False

    def __init__(
        self,
        skills: list[Skill] | None = None,
        *,
        registry: SkillRegistry | None = None,
        code_executor: "BaseCodeExecutor | None" = None,
        environment: "BaseEnvironment | None" = None,
        skills_folder: Path | str | None = None,
        script_timeout: int = _SCRIPT_SECONDS,
        save_output_artifacts: bool = False,
        additional_tools: Sequence[BaseTool | BaseToolset | BaseNode | Callable[..., Any]]
        | None = None,
        tool_name_prefix: str | None = None,
        tool_filter: ToolFilter | None = None,
        discovery_mode: SkillDiscoveryMode = SkillDiscoveryMode.LAZY,
        lifecycle_config: SkillLifecycleConfig | None = None,
    ) -> None:
        """Choose the skills.

        Args:
            skills: Skills to offer; `devui.runtime.skills.load_skill_from_dir` reads them.
            registry: Where to look for more skills.
            code_executor: Runs their scripts; by default, the agent's executor does.
            environment: Runs their scripts by shell commands, instead of an executor.
            skills_folder: An absolute path for skills in the environment; by default, `skills` in
                its folder.
            script_timeout: The time limit of a shell script or command, in seconds.
            save_output_artifacts: Whether files that a script creates become artifacts; only with
                an executor.
            additional_tools: Tools that skills name in `adk_additional_tools`; offered once such a
                skill has been read in the session.
            tool_name_prefix: A prefix for each name, followed by an underscore.
            tool_filter: The names of the tools to offer, or a predicate.
            discovery_mode: How the model learns which skills are available.
            lifecycle_config: How long a skill stays active after it was read; by default, until the
                end of the session.

        Raises:
            TypeError: a skill is given as a path.
            ValueError: two skills have the same name, or the settings for scripts contradict each
                other.
        """
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        self._skills = _by_name(skills or [])
        if environment is not None and (code_executor or save_output_artifacts):
            raise ValueError(
                "A SkillToolset with an environment takes neither a code_executor nor"
                " save_output_artifacts: its scripts run in the environment, and leave files there."
            )
        self.registry = registry
        self.code_executor = code_executor
        self.active = ActiveSkills(lifecycle_config or SkillLifecycleConfig())
        self._skill_workspace = SkillWorkspace.of(environment, skills_folder)
        self._keeps_files = save_output_artifacts
        self._given_folder = skills_folder
        self._additional_entries = list(additional_tools or [])
        self._discovery_mode = discovery_mode
        self._script_timeout = script_timeout
        self._fetched_skills: dict[tuple[str, str], Skill] = {}
        self._tools = self._core_tools()

    def _core_tools(self) -> list[SkillTool]:
        """Return the tools that are offered whichever skill is active."""
        return [
            *([ListSkillsTool(self)] if self._discovery_mode is SkillDiscoveryMode.LAZY else []),
            LoadSkillTool(self),
            LoadSkillResourceTool(self),
            self._script_tool(),
            *([SearchSkillsTool(self, self.registry)] if self.registry else []),
        ]

    def _script_tool(self) -> SkillTool:
        if self._skill_workspace is not None:
            return RunSkillCommandTool(self, self._skill_workspace, self._script_timeout)
        return RunSkillScriptTool(self, self._script_timeout, keeps_files=self._keeps_files)

    @property
    def skills_folder(self) -> Path | None:
        """The folder of the skills in the environment; None without an environment."""
        return self._skill_workspace.folder if self._skill_workspace is not None else None

    @property
    def skills(self) -> list[Skill]:
        """The toolset's own skills, without those of the registry."""
        return self._list_skills()

    def _list_skills(self) -> list[Skill]:
        """Return the skills it was created with; a subclass may find them elsewhere."""
        return list(self._skills.values())

    def _get_skill(self, skill_name: str) -> Skill | None:
        """Return its own skill with that name; overridden together with `_list_skills`."""
        return self._skills.get(skill_name)

    def list_active_skills(self, ctx: "ReadonlyContext") -> list[str]:
        """Return the skills that the agent has read and that are still active, the latest last."""
        return self.active.names(ctx)

    async def load_skill(self, ctx: "Context", skill_name: str) -> bool:
        """Offer the tools that a skill names as if the model had read it; the model isn't told.

        Returns:
            Whether the skill was not active before.

        Raises:
            ValueError: neither the toolset nor its registry has the skill.
        """
        if skill_name in self.list_active_skills(ctx):
            self.active.add(ctx, skill_name)
            return False
        skill = await self.find(skill_name, ctx.invocation_id)
        if skill is None:
            raise ValueError(f"There is no skill {skill_name!r}.")
        was_active = skill_name in self.list_active_skills(ctx)
        self.active.add(ctx, skill_name, skill)
        return not was_active

    def unload_skill(self, ctx: "Context", skill_name: str) -> bool:
        """Stop offering the tools that a skill names until it is read again.

        Returns:
            Whether the skill was active.
        """
        return self.active.remove(ctx, skill_name)

    def clone_with_updated_skills(self, skills: list[Skill]) -> "SkillToolset":
        """Return a toolset with other skills and the same settings.

        Raises:
            ValueError: two skills have the same name.
        """
        return SkillToolset(
            skills,
            registry=self.registry,
            code_executor=self.code_executor,
            environment=self._skill_workspace.environment if self._skill_workspace else None,
            skills_folder=self._given_folder,
            script_timeout=self._script_timeout,
            save_output_artifacts=self._keeps_files,
            additional_tools=self._additional_entries,
            tool_name_prefix=self.tool_name_prefix,
            tool_filter=self.tool_filter,
            discovery_mode=self._discovery_mode,
            lifecycle_config=self.active.config,
        )

    def _tools_at_load(self) -> list[BaseTool]:
        return self._unconditional_tools(t for t in self._tools if t.name != RUN_SKILL_SCRIPT)

    async def get_tools(self, readonly_context: "ReadonlyContext | None" = None) -> list[BaseTool]:
        """Return the tools for skills, and those that the active skills name."""
        runs = self._runs_scripts(readonly_context)
        own: list[BaseTool] = [t for t in self._tools if runs or t.name != RUN_SKILL_SCRIPT]
        additional = await self._resolve_additional_tools_from_state(readonly_context)
        own_names = {tool.name for tool in self._tools}
        tools = [*own, *(tool for tool in additional if tool.name not in own_names)]
        return [tool for tool in tools if self._is_tool_selected(tool, readonly_context)]

    async def process_llm_request(
        self, *, tool_context: "Context", llm_request: LlmRequest
    ) -> None:
        """Tell the model how to use skills and, unless it can list them, which ones exist."""
        if self._skill_workspace is not None:
            await self._skill_workspace.begin()
        tool_names = {t.name for t in self._tools if self._is_tool_selected(t, tool_context)}
        if self._discovery_mode is SkillDiscoveryMode.EAGER:
            tool_names.add(LIST_SKILLS)  # not missing, since the skills are in the instruction
        instructions = [
            skill_instruction(
                prefix=self.tool_name_prefix,
                tool_names=tool_names,
                runs_scripts=self._runs_scripts(tool_context),
                folder=self.skills_folder,
            )
        ]
        if self._discovery_mode is SkillDiscoveryMode.EAGER or LIST_SKILLS not in tool_names:
            instructions.append(format_skills_as_xml(self.skills))
        if SEARCH_SKILLS in tool_names:
            prefix = f"{self.tool_name_prefix}_" if self.tool_name_prefix else ""
            instructions.append(
                f"If none of these skills fits, look for one by `{prefix}{SEARCH_SKILLS}`."
            )
        instructions += await self._change_notices(tool_context)
        llm_request.append_instructions(instructions)

    async def find(self, name: str, invocation_id: str) -> Skill | None:
        """Return the skill with that name; the registry is asked once per invocation."""
        if (own := self._get_skill(name)) is not None or self.registry is None:
            return own
        key = (invocation_id, name)
        if key not in self._fetched_skills:
            skill = await self.registry.get_skill(name=name)
            if len(self._fetched_skills) >= _MAX_FETCHED:
                del self._fetched_skills[next(iter(self._fetched_skills))]
            self._fetched_skills[key] = skill
        return self._fetched_skills[key]

    async def close(self) -> None:
        """Close the environment and the toolsets among the additional tools."""
        environment = [] if self._skill_workspace is None else [self._skill_workspace.close]
        await take_all(
            [*environment, *(each.close for each in toolsets_of(self._additional_entries))]
        )

    def _runs_scripts(self, context: "ReadonlyContext | None") -> bool:
        """Whether there may be a script to run and something to run it; True if that is unknown."""
        if context is None:
            return True
        executor = self._skill_workspace or self.code_executor or executor_of(context)
        if executor is None:
            return False
        return self.registry is not None or any(s.resources.scripts for s in self.skills)

    async def _change_notices(self, context: "Context") -> list[str]:
        """Return the current instructions of skills that have changed since the model read them."""
        notices = []
        noted = self.active.digests(context)
        looking = (self.find(name, context.invocation_id) for name in noted)
        skills = await asyncio.gather(*looking, return_exceptions=True)
        for (name, before), skill in zip(noted.items(), skills, strict=True):
            if isinstance(skill, BaseException):
                logger.warning("Can't tell whether the skill %r has changed: %r", name, skill)
            elif skill is not None and (now := digest(skill)) != before:
                await _refreshed(self, skill, now)
                notices.append(
                    f"The skill `{name}` is not what it was when you read it. Now it says:"
                    f"\n\n{skill.instructions}"
                )
        return notices

    async def _resolve_additional_tools_from_state(
        self, readonly_context: "ReadonlyContext | None"
    ) -> list[BaseTool]:
        """Return the tools that active skills name; subclasses may override this."""
        if readonly_context is None:
            return []
        names: dict[str, None] = {}
        for name in self.list_active_skills(readonly_context):
            skill = await self.find(name, readonly_context.invocation_id)
            if skill is not None:
                names.update(
                    dict.fromkeys(skill.frontmatter.metadata.get("adk_additional_tools") or [])
                )
        if not names:
            return []
        tool_by_name = {tool.name: tool for tool in await self._additional_tools(readonly_context)}
        return [tool_by_name[name] for name in names if name in tool_by_name]

    async def _additional_tools(self, context: "ReadonlyContext") -> list[BaseTool]:
        tools: list[BaseTool] = []
        for entry in self._additional_entries:
            if isinstance(entry, BaseToolset):
                tools += await entry.get_tools_with_prefix(context)
            elif isinstance(entry, BaseTool):
                tools.append(entry)
            else:
                tools.append(
                    NodeTool(entry) if isinstance(entry, BaseNode) else FunctionTool(entry)
                )
        return tools


async def _refreshed(toolset: SkillToolset, skill: Skill, noted: str) -> None:
    if toolset._skill_workspace is None:
        return
    try:
        await toolset._skill_workspace.refresh(skill, noted)
    except Exception:
        logger.exception("The files of the skill %r could not be rewritten.", skill.name)


def _by_name(skills: Sequence[Skill]) -> dict[str, Skill]:
    for skill in skills:
        if isinstance(skill, str | Path):
            raise TypeError(
                f"`skills` contains {brief(skill)}; pass Skills, such as load_skill_from_dir(...)."
            )
    skill_by_name = {skill.name: skill for skill in skills}
    if len(skill_by_name) < len(skills):
        raise ValueError("Two skills of a SkillToolset have the same name.")
    return skill_by_name
