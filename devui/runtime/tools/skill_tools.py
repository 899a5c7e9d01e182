"""The tools by which a model finds and reads skills (adk-runtime 8.8)."""

import logging
import mimetypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from google.genai import types

from devui.runtime.models.asides import Aside, newest_first
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.skills.models import Skill
from devui.runtime.skills.prompt import format_skills_as_xml
from devui.runtime.skills.skill_registry import SkillRegistry
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.skill_instruction import (
    LIST_SKILLS,
    LOAD_SKILL,
    LOAD_SKILL_RESOURCE,
    SEARCH_SKILLS,
)
from devui.runtime.tools.skill_lifecycle import ActiveSkills, SkillLifecycleMode
from devui.runtime.utils.instructions_utils import inject_session_state

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor

logger = logging.getLogger(__name__)

_BINARY = "The file is no text. What it holds stands below, in the conversation."
_FOR_NOW = "The skill is for this turn alone; if you need it in a later one, read it again."
_STRING = {"type": "string"}


class Skills(Protocol):
    """Where the tools find the skills: their toolset."""

    registry: SkillRegistry | None
    code_executor: "BaseCodeExecutor | None"
    active: ActiveSkills
    """Those that the model has read."""

    @property
    def skills(self) -> list[Skill]:
        """Those that were given to it."""

    async def find(self, name: str, invocation_id: str) -> Skill | None:
        """The skill of that name, also from the registry; None if there is none."""


class SkillError(Exception):
    """Why a call of a skill's tool was of no use, in words for the model."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class SkillTool(BaseTool):
    """What the tools of skills have in common."""

    def __init__(
        self, toolset: Skills, name: str, description: str, parameters: Mapping[str, Any]
    ) -> None:
        super().__init__(name=name, description=description)
        self._toolset = toolset
        self._parameters = parameters

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema={"type": "object", **self._parameters},
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: "Context") -> Any:
        """What the model reads; a mistake of its own comes as `error` and `error_code`."""
        try:
            self._check(args)
            return await self._run(args, tool_context)
        except SkillError as error:
            return {"error": str(error), "error_code": error.code}

    async def _run(self, args: dict[str, Any], context: "Context") -> Any:
        raise NotImplementedError

    def _check(self, args: dict[str, Any]) -> None:
        missing = [name for name in self._parameters.get("required", ()) if not args.get(name)]
        if missing:
            said = "\n".join(f"Argument '{name}' is required." for name in missing)
            raise SkillError("INVALID_ARGUMENTS", said)

    async def _skill(self, args: dict[str, Any], context: "Context") -> Skill:
        name = args["skill_name"]
        try:
            skill = await self._toolset.find(name, context.invocation_id)
        except Exception as error:  # users' registries
            raise SkillError(
                "REGISTRY_ERROR", f"The registry did not give the skill '{name}': {error}"
            ) from error
        if skill is None:
            raise SkillError("SKILL_NOT_FOUND", f"Skill '{name}' not found.")
        return skill


class ListSkillsTool(SkillTool):
    """Lists the skills that the toolset was given."""

    TOOL_NAME: ClassVar[str] = LIST_SKILLS

    def __init__(self, toolset: Skills) -> None:
        super().__init__(
            toolset, LIST_SKILLS, "List the skills by name and description.", {"properties": {}}
        )

    async def _run(self, args: dict[str, Any], context: "Context") -> str:
        return format_skills_as_xml(self._toolset.skills)


class SearchSkillsTool(SkillTool):
    """Searches the registry."""

    TOOL_NAME: ClassVar[str] = SEARCH_SKILLS

    def __init__(self, toolset: Skills, registry: SkillRegistry) -> None:
        described = registry.search_tool_description()
        super().__init__(
            toolset,
            SEARCH_SKILLS,
            described or "Search the registry for skills that fit a task.",
            {
                "properties": {"query": {**_STRING, "description": "What the task is about."}},
                "required": ["query"],
            },
        )
        self._registry = registry

    async def _run(self, args: dict[str, Any], context: "Context") -> list[dict[str, Any]]:
        known = {skill.name for skill in self._toolset.skills}
        try:
            found = await self._registry.search_skills(query=args["query"])
        except Exception as error:  # users' registries
            raise SkillError("REGISTRY_ERROR", f"The search failed: {error}") from error
        return [one.model_dump() for one in found if one.name not in known]


class LoadSkillTool(SkillTool):
    """Gives the model the instructions of a skill."""

    TOOL_NAME: ClassVar[str] = LOAD_SKILL

    def __init__(self, toolset: Skills) -> None:
        super().__init__(
            toolset,
            LOAD_SKILL,
            "Read the instructions of a skill.",
            {
                "properties": {"skill_name": {**_STRING, "description": "Which skill."}},
                "required": ["skill_name"],
            },
        )

    async def _run(self, args: dict[str, Any], context: "Context") -> dict[str, Any]:
        skill = await self._skill(args, context)
        active = self._toolset.active
        released = active.add(context, skill.name, skill)
        instructions = skill.instructions
        if skill.frontmatter.metadata.get("adk_inject_state"):
            instructions = await inject_session_state(instructions, context)
        told = {
            "skill_name": args["skill_name"],
            "instructions": instructions,
            "frontmatter": skill.frontmatter.model_dump(),
        }
        if released:
            told["unloaded_skills"] = released
        if active.config.mode(skill.name) is SkillLifecycleMode.EPHEMERAL:
            told["lifecycle_notice"] = _FOR_NOW
        return told


class LoadSkillResourceTool(SkillTool):
    """Gives the model a file of a skill; one that is no text is put into the next request."""

    TOOL_NAME: ClassVar[str] = LOAD_SKILL_RESOURCE

    def __init__(self, toolset: Skills) -> None:
        path = "Its path in the skill: references/…, assets/… or scripts/…"
        super().__init__(
            toolset,
            LOAD_SKILL_RESOURCE,
            "Read a file of a skill, from references/, assets/ or scripts/.",
            {
                "properties": {
                    "skill_name": {**_STRING, "description": "Which skill."},
                    "file_path": {**_STRING, "description": path},
                },
                "required": ["skill_name", "file_path"],
            },
        )

    async def _run(self, args: dict[str, Any], context: "Context") -> dict[str, Any]:
        skill = await self._skill(args, context)
        path = args["file_path"]
        content = resource(skill, path)
        if content is None:
            raise not_found("RESOURCE", f"Resource '{path}'", skill, context)
        said = {"skill_name": args["skill_name"], "file_path": path}
        if isinstance(content, bytes):
            return {**said, "status": _BINARY}
        return {**said, "content": content}

    async def process_llm_request(
        self, *, tool_context: "Context", llm_request: LlmRequest
    ) -> None:
        """Declare the tool; put in files that the model has just asked for."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        last = next(newest_first(llm_request.contents), None)
        for part in (last.parts if last else None) or []:
            response = part.function_response
            if response is None or response.name != self.name:
                continue
            told = response.response or {}
            if told.get("status") == _BINARY:
                await self._put_in(told, tool_context, llm_request)

    async def _put_in(
        self, told: dict[str, Any], context: "Context", llm_request: LlmRequest
    ) -> None:
        try:
            skill = await self._skill(told, context)
        except SkillError as error:
            logger.warning("%s is not in the request: %s", told["file_path"], error)
            return
        data = resource(skill, told["file_path"])
        if isinstance(data, bytes):
            kind = mimetypes.guess_type(told["file_path"])[0] or "application/octet-stream"
            said = types.Part(text=f"The file '{told['file_path']}' of the skill {skill.name}:")
            blob = types.Part(inline_data=types.Blob(data=data, mime_type=kind))
            llm_request.contents.append(Aside(role="user", parts=[said, blob]))


def resource(skill: Skill, path: str) -> str | bytes | None:
    """The file at a path; None if there is none. SkillError for a path that cannot be one."""
    folder, _, name = path.partition("/")
    if folder == "references":
        return skill.resources.get_reference(name)
    if folder == "assets":
        return skill.resources.get_asset(name)
    if folder == "scripts":
        script = skill.resources.get_script(name)
        return script.src if script else None
    raise SkillError(
        "INVALID_RESOURCE_PATH", "Path must start with 'references/', 'assets/', or 'scripts/'."
    )


def not_found(kind: str, what: str, skill: Skill, context: "Context") -> SkillError:
    """The error for a file that is not there; from the second one on, it ends the guessing."""
    key = f"temp:_adk_skill_{kind.lower()}_not_found_count_{context.invocation_id}"
    count = int(context.state.get(key) or 0) + 1
    context.state[key] = count
    said = f"{what} not found in skill '{skill.name}'."
    if count == 1:
        return SkillError(f"{kind}_NOT_FOUND", said)
    return SkillError(
        f"{kind}_NOT_FOUND_FATAL",
        f"{said} This is the {count}. time: try no other path, tell the user, and stop.",
    )
