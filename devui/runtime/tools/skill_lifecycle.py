"""How long a skill that was read stays active (adk-runtime 8.8; agentskills.io)."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from devui.runtime.skills.models import Skill

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.readonly_context import ReadonlyContext

_LENGTH_BYTES = 8

_Record = dict[str, Any]


class SkillLifecycleMode(Enum):
    """When a skill that was read stops to count as active."""

    PERSISTENT = "persistent"
    """At the end of the session."""
    BOUNDED = "bounded"
    """When too many others of this kind have been read since."""
    EPHEMERAL = "ephemeral"
    """With the invocation in which it was read."""


@dataclass(frozen=True)
class SkillLifecycleConfig:
    """How long the skills of a toolset stay active."""

    enabled: bool = True
    """False leaves all of them active, whatever else is said here."""
    default_mode: SkillLifecycleMode = SkillLifecycleMode.PERSISTENT
    max_active_skills: int = 5
    """How many BOUNDED ones an agent may have at once."""
    skill_overrides: dict[str, SkillLifecycleMode] = field(default_factory=dict)
    """The modes of single skills by their names."""
    revalidate_skills: bool = False
    """Whether each request looks if active skills have changed, and tells the model what they say
    now; skills of a registry are asked for each time."""

    def __post_init__(self) -> None:
        if self.max_active_skills < 1:
            raise ValueError(f"max_active_skills must be at least 1, not {self.max_active_skills}.")

    def mode(self, name: str) -> SkillLifecycleMode:
        """How long the skill of that name stays."""
        if not self.enabled:
            return SkillLifecycleMode.PERSISTENT
        return self.skill_overrides.get(name, self.default_mode)


class ActiveSkills:
    """The skills that an agent has read, kept in the state of its session."""

    def __init__(self, config: SkillLifecycleConfig) -> None:
        """Keep to the config as it is now; to change its dict later changes nothing."""
        self.config = replace(config, skill_overrides=dict(config.skill_overrides))
        modes = {config.default_mode, *config.skill_overrides.values()}
        self._some_end = config.enabled and SkillLifecycleMode.EPHEMERAL in modes

    def names(self, ctx: "ReadonlyContext") -> list[str]:
        """Those that are active, the one that was read last at the end."""
        stored = _stored(ctx)
        if not stored or not self._some_end:
            return stored
        records = _records(ctx)
        return [name for name in stored if not _is_over(records.get(name), ctx.invocation_id)]

    def add(self, ctx: "Context", name: str, skill: Skill | None = None) -> list[str]:
        """Make a skill active, or mark it as read once more; returns those that no longer are.

        Args:
            ctx: The agent that has read it.
            name: Its name.
            skill: What was read, to notice changes; None leaves what was noted before.
        """
        active = self.names(ctx)
        over = [one for one in _stored(ctx) if one not in active and one != name]
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
        """Make a skill inactive; whether it was active."""
        stored = _stored(ctx)
        if name not in stored:
            return False
        was_active = name in self.names(ctx)
        stored.remove(name)
        ctx.state[_names_key(ctx)] = stored
        _keep_records(ctx, stored, {})
        return was_active

    def digests(self, ctx: "ReadonlyContext") -> dict[str, str]:
        """What the active skills were when the model read them, as digests by their names."""
        if not (self.config.enabled and self.config.revalidate_skills):
            return {}
        records = _records(ctx)
        found = {name: records.get(name, {}).get("version_hash") for name in self.names(ctx)}
        return {name: noted for name, noted in found.items() if noted}

    def _displaced(self, active: Iterable[str]) -> list[str]:
        """The oldest of the bounded ones, if there are too many."""
        bounded = [name for name in active if self.config.mode(name) is SkillLifecycleMode.BOUNDED]
        return bounded[: max(0, len(bounded) - self.config.max_active_skills)]

    def _record(self, ctx: "Context", name: str, skill: Skill | None) -> _Record:
        """What has to be noted besides the name; nothing for most."""
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
    """A hash of all that a skill can tell a model; the same as google-adk's."""
    found = hashlib.sha256()

    def take(*values: str | bytes) -> None:
        for value in values:
            data = value.encode() if isinstance(value, str) else value
            found.update(len(data).to_bytes(_LENGTH_BYTES, "big"))
            found.update(data)

    take(skill.name, skill.instructions)
    take(json.dumps(skill.frontmatter.model_dump(mode="json"), sort_keys=True, default=str))
    for name, text in sorted(skill.resources.references.items()):
        take("references", name, text)
    for name, text in sorted(skill.resources.assets.items()):
        take("assets", name, text)
    for name, script in sorted(skill.resources.scripts.items()):
        take("scripts", name, script.src)
    return found.hexdigest()


def _stored(ctx: "ReadonlyContext") -> list[str]:
    return list(ctx.state.get(_names_key(ctx)) or [])


def _records(ctx: "ReadonlyContext") -> dict[str, _Record]:
    return dict(ctx.state.get(_records_key(ctx)) or {})


def _keep_records(ctx: "Context", active: list[str], noted: dict[str, _Record]) -> None:
    """Note what is new, and forget what was noted of skills that are not active."""
    records = {**_records(ctx), **noted}
    kept = {name: record for name, record in records.items() if name in active}
    if noted or len(kept) != len(records):
        ctx.state[_records_key(ctx)] = kept


def _is_over(record: _Record | None, invocation_id: str) -> bool:
    """Whether a skill was for one invocation alone, and that is past."""
    if record is None or record.get("lifecycle") != SkillLifecycleMode.EPHEMERAL.value:
        return False
    read_in = record.get("activated_in")
    return bool(read_in) and read_in != invocation_id


def _names_key(ctx: "ReadonlyContext") -> str:
    return f"_adk_activated_skill_{ctx.agent_name}"


def _records_key(ctx: "ReadonlyContext") -> str:
    return f"_adk_skill_meta_{ctx.agent_name}"
