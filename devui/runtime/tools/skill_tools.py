"""The tools with which a model finds and reads skills (adk-runtime 8.8)."""

import hashlib
import json
import logging
import mimetypes
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from google.genai import types

from devui.runtime.models.llm_request import LlmRequest, RequestOnlyContent, newest_first
from devui.runtime.skills.models import Skill, SkillRegistry, format_skills_as_xml
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.utils.instructions_utils import inject_session_state

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context, ReadonlyContext
    from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor


# The instructions for a model about skills (agentskills.io).


LIST_SKILLS = "list_skills"
SEARCH_SKILLS = "search_skills"
LOAD_SKILL = "load_skill"
LOAD_SKILL_RESOURCE = "load_skill_resource"
RUN_SKILL_SCRIPT = "run_skill_script"

_ALWAYS = (LIST_SKILLS, LOAD_SKILL, LOAD_SKILL_RESOURCE, RUN_SKILL_SCRIPT)

_INTRODUCTION = """\
You have skills: folders with instructions and files for certain kinds of work. A skill has
- SKILL.md: what it is for, and how to go about it;
- references/: more to read, if there is any;
- assets/: templates and other material, if there is any;
- scripts/: {scripts}.

Rules:
"""


def skill_instruction(
    *,
    prefix: str | None = None,
    tool_names: Collection[str] | None = None,
    runs_scripts: bool = True,
    folder: PurePath | None = None,
) -> str:
    """Return the rules for the tools that are offered.

    Args:
        prefix: The prefix of the tools' names.
        tool_names: The tools that are offered; None for all.
        runs_scripts: Whether scripts can be run.
        folder: The folder of the skills, if scripts are run by commands.
    """
    full_names = {tool: f"{prefix}_{tool}" if prefix else tool for tool in _ALWAYS}
    load, resource = f"`{full_names[LOAD_SKILL]}`", f"`{full_names[LOAD_SKILL_RESOURCE]}`"
    run = f"`{full_names[RUN_SKILL_SCRIPT]}`"
    rules = [
        f"If a skill fits the task, you must read it by {load} before you do anything else.",
        "Then follow its instructions to the letter and to the end, step by step.",
        f"Read the files of a skill by {resource} alone. Files of the user are not among them.",
        f"If {resource} fails, try no other path: tell the user, and stop.",
    ]
    if runs_scripts:
        rules.append(f"Run the scripts of a skill by {run}; read them first if you need to.")
        if folder is not None:
            rules.append(
                f"In the command of {run}, the files of a skill are those in"
                f" {folder.as_posix()}/<name of the skill>/; write their whole paths."
            )
        rules.append(f"If {run} fails, try no other script: tell the user, and stop.")
    rules.append(
        f"Reading a skill is not the answer. After {load} go on in the same turn: call the tools"
        " that its steps need, and then answer."
    )
    scripts = "programs to run" if runs_scripts else f"programs to read by {resource}; none can run"
    rule_lines = "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))
    missing = [f"`{full_names[tool]}`" for tool in _ALWAYS if tool_names and tool not in tool_names]
    instruction = f"{_INTRODUCTION.format(scripts=scripts)}{rule_lines}\n"
    if not missing:
        return instruction
    return (
        f"{instruction}\nThese tools are not available, do not call them: {', '.join(missing)}."
        " Answer in plain text.\n"
    )


# How long a skill stays active after it was read (adk-runtime 8.8; agentskills.io).


_LENGTH_BYTES = 8

_Record = dict[str, Any]


class SkillLifecycleMode(Enum):
    """When a loaded skill stops being active."""

    PERSISTENT = "persistent"
    """At the end of the session."""
    BOUNDED = "bounded"
    """When too many other bounded skills have been read since."""
    EPHEMERAL = "ephemeral"
    """At the end of the invocation in which it was read."""


@dataclass(frozen=True)
class SkillLifecycleConfig:
    """How long the skills of a toolset stay active."""

    enabled: bool = True
    """False keeps all skills active, regardless of the other settings."""
    default_mode: SkillLifecycleMode = SkillLifecycleMode.PERSISTENT
    max_active_skills: int = 5
    """How many BOUNDED skills an agent may have active at once."""
    skill_overrides: dict[str, SkillLifecycleMode] = field(default_factory=dict)
    """The modes of individual skills by name."""
    revalidate_skills: bool = False
    """Whether each request checks if active skills have changed, and tells the model their current
    instructions. Skills of a registry are fetched each time."""

    def __post_init__(self) -> None:
        if self.max_active_skills < 1:
            raise ValueError(f"max_active_skills must be at least 1, not {self.max_active_skills}.")

    def mode(self, name: str) -> SkillLifecycleMode:
        """Return the lifecycle mode of the skill with that name."""
        if not self.enabled:
            return SkillLifecycleMode.PERSISTENT
        return self.skill_overrides.get(name, self.default_mode)


class ActiveSkills:
    """The skills that an agent has read, kept in the state of its session."""

    def __init__(self, config: SkillLifecycleConfig) -> None:
        """Copy the config, so that later changes to its dict have no effect."""
        self.config = replace(config, skill_overrides=dict(config.skill_overrides))
        modes = {config.default_mode, *config.skill_overrides.values()}
        self._some_end = config.enabled and SkillLifecycleMode.EPHEMERAL in modes

    def names(self, ctx: "ReadonlyContext") -> list[str]:
        """Return the names of the active skills, the most recently read one last."""
        all_names = _stored_names(ctx)
        if not all_names or not self._some_end:
            return all_names
        records = _records(ctx)
        return [name for name in all_names if not _is_over(records.get(name), ctx.invocation_id)]

    def add(self, ctx: "Context", name: str, skill: Skill | None = None) -> list[str]:
        """Activate a skill, or mark it as read again; return those that are no longer active.

        Args:
            ctx: The context of the agent that has read it.
            name: The name of the skill.
            skill: The version that was read, to detect changes; None keeps what was recorded
                before.
        """
        active = self.names(ctx)
        over = [one for one in _stored_names(ctx) if one not in active and one != name]
        record = self._record(ctx, name, skill)
        stays = self.config.mode(name) is SkillLifecycleMode.PERSISTENT
        if name in active and stays and not over and not record:
            return []
        if name in active and not stays:
            active.remove(name)
        if name not in active:
            active.append(name)
        displaced = self._displaced(active)
        active = [one for one in active if one not in displaced]
        ctx.state[_names_key(ctx)] = active
        _keep_records(ctx, active, {name: record} if record else {})
        return [*over, *displaced]

    def remove(self, ctx: "Context", name: str) -> bool:
        """Deactivate a skill; return whether it was active."""
        all_names = _stored_names(ctx)
        if name not in all_names:
            return False
        was_active = name in self.names(ctx)
        all_names.remove(name)
        ctx.state[_names_key(ctx)] = all_names
        _keep_records(ctx, all_names, {})
        return was_active

    def digests(self, ctx: "ReadonlyContext") -> dict[str, str]:
        """Return the digests of the active skills, as the model read them, by name."""
        if not (self.config.enabled and self.config.revalidate_skills):
            return {}
        records = _records(ctx)
        hashes = {name: records.get(name, {}).get("version_hash") for name in self.names(ctx)}
        return {name: noted for name, noted in hashes.items() if noted}

    def _displaced(self, active: Iterable[str]) -> list[str]:
        """Return the oldest bounded skills above the limit."""
        bounded = [name for name in active if self.config.mode(name) is SkillLifecycleMode.BOUNDED]
        return bounded[: max(0, len(bounded) - self.config.max_active_skills)]

    def _record(self, ctx: "Context", name: str, skill: Skill | None) -> _Record:
        """Return what has to be recorded in addition to the name; empty for most."""
        mode = self.config.mode(name)
        record: _Record = {}
        if mode is SkillLifecycleMode.EPHEMERAL:
            record |= {"lifecycle": mode.value, "activated_in": ctx.invocation_id}
        if self.config.enabled and self.config.revalidate_skills and skill is not None:
            record["version_hash"] = digest(skill)
        elif record and (noted := _records(ctx).get(name, {}).get("version_hash")):
            record["version_hash"] = noted
        return record


def digest(skill: Skill) -> str:
    """Return a hash of everything in a skill that a model can read; the same as google-adk's."""
    hasher = hashlib.sha256()

    def take(*values: str | bytes) -> None:
        for value in values:
            data = value.encode() if isinstance(value, str) else value
            hasher.update(len(data).to_bytes(_LENGTH_BYTES, "big"))
            hasher.update(data)

    take(skill.name, skill.instructions)
    take(json.dumps(skill.frontmatter.model_dump(mode="json"), sort_keys=True, default=str))
    for name, text in sorted(skill.resources.references.items()):
        take("references", name, text)
    for name, text in sorted(skill.resources.assets.items()):
        take("assets", name, text)
    for name, script in sorted(skill.resources.scripts.items()):
        take("scripts", name, script.src)
    return hasher.hexdigest()


def _stored_names(ctx: "ReadonlyContext") -> list[str]:
    return list(ctx.state.get(_names_key(ctx)) or [])


def _records(ctx: "ReadonlyContext") -> dict[str, _Record]:
    return dict(ctx.state.get(_records_key(ctx)) or {})


def _keep_records(ctx: "Context", active: list[str], noted: dict[str, _Record]) -> None:
    """Add the new records, and delete those of skills that aren't active."""
    records = {**_records(ctx), **noted}
    remaining = {name: record for name, record in records.items() if name in active}
    if noted or len(remaining) != len(records):
        ctx.state[_records_key(ctx)] = remaining


def _is_over(record: _Record | None, invocation_id: str) -> bool:
    """Whether a skill was active for one invocation only, and that has ended."""
    if record is None or record.get("lifecycle") != SkillLifecycleMode.EPHEMERAL.value:
        return False
    read_in = record.get("activated_in")
    return bool(read_in) and read_in != invocation_id


def _names_key(ctx: "ReadonlyContext") -> str:
    return f"_adk_activated_skill_{ctx.agent_name}"


def _records_key(ctx: "ReadonlyContext") -> str:
    return f"_adk_skill_meta_{ctx.agent_name}"


logger = logging.getLogger(__name__)

_BINARY = "The file is no text. What it holds stands below, in the conversation."
_FOR_NOW = "The skill is for this turn alone; if you need it in a later one, read it again."
_STRING = {"type": "string"}


class Skills(Protocol):
    """The toolset in which the tools find the skills."""

    registry: SkillRegistry | None
    code_executor: "BaseCodeExecutor | None"
    active: ActiveSkills
    """The skills that the model has read."""

    @property
    def skills(self) -> list[Skill]:
        """The skills that were passed to the toolset."""

    async def find(self, name: str, invocation_id: str) -> Skill | None:
        """Return the skill with that name, also from the registry; None if there is none."""


class SkillError(Exception):
    """Why a call of a skill tool failed, in words for the model."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class SkillTool(BaseTool):
    """The base class of the tools for skills."""

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
        """Return what the model reads; its own mistakes return `error` and `error_code`."""
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
            message = "\n".join(f"Argument '{name}' is required." for name in missing)
            raise SkillError("INVALID_ARGUMENTS", message)

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
    """Lists the skills of the toolset."""

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
        description = registry.search_tool_description()
        super().__init__(
            toolset,
            SEARCH_SKILLS,
            description or "Search the registry for skills that fit a task.",
            {
                "properties": {"query": {**_STRING, "description": "What the task is about."}},
                "required": ["query"],
            },
        )
        self._registry = registry

    async def _run(self, args: dict[str, Any], context: "Context") -> list[dict[str, Any]]:
        own_names = {skill.name for skill in self._toolset.skills}
        try:
            matches = await self._registry.search_skills(query=args["query"])
        except Exception as error:  # users' registries
            raise SkillError("REGISTRY_ERROR", f"The search failed: {error}") from error
        return [one.model_dump() for one in matches if one.name not in own_names]


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
        response = {
            "skill_name": args["skill_name"],
            "instructions": instructions,
            "frontmatter": skill.frontmatter.model_dump(),
        }
        if released:
            response["unloaded_skills"] = released
        if active.config.mode(skill.name) is SkillLifecycleMode.EPHEMERAL:
            response["lifecycle_notice"] = _FOR_NOW
        return response


class LoadSkillResourceTool(SkillTool):
    """Gives the model a file of a skill; a binary file is added to the next request."""

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
        fields = {"skill_name": args["skill_name"], "file_path": path}
        if isinstance(content, bytes):
            return {**fields, "status": _BINARY}
        return {**fields, "content": content}

    async def process_llm_request(
        self, *, tool_context: "Context", llm_request: LlmRequest
    ) -> None:
        """Declare the tool, and add the binary files that the model has just requested."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        last = next(newest_first(llm_request.contents), None)
        for part in (last.parts if last else None) or []:
            response = part.function_response
            if response is None or response.name != self.name:
                continue
            result = response.response or {}
            if result.get("status") == _BINARY:
                await self._put_in(result, tool_context, llm_request)

    async def _put_in(
        self, result: dict[str, Any], context: "Context", llm_request: LlmRequest
    ) -> None:
        try:
            skill = await self._skill(result, context)
        except SkillError as error:
            logger.warning("%s was not added to the request: %s", result["file_path"], error)
            return
        data = resource(skill, result["file_path"])
        if isinstance(data, bytes):
            kind = mimetypes.guess_type(result["file_path"])[0] or "application/octet-stream"
            label = types.Part(text=f"The file '{result['file_path']}' of the skill {skill.name}:")
            blob = types.Part(inline_data=types.Blob(data=data, mime_type=kind))
            llm_request.contents.append(RequestOnlyContent(role="user", parts=[label, blob]))


def resource(skill: Skill, path: str) -> str | bytes | None:
    """Return the file at a path, or None; raise SkillError for a path that can't be a file's."""
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
    """Return the error for a missing file; repeated ones tell the model to stop guessing."""
    key = f"temp:_adk_skill_{kind.lower()}_not_found_count_{context.invocation_id}"
    count = int(context.state.get(key) or 0) + 1
    context.state[key] = count
    message = f"{what} not found in skill '{skill.name}'."
    if count == 1:
        return SkillError(f"{kind}_NOT_FOUND", message)
    return SkillError(
        f"{kind}_NOT_FOUND_FATAL",
        f"{message} This is the {count}. time: try no other path, tell the user, and stop.",
    )
