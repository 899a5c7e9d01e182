"""What a skill consists of: its metadata, instructions and files (agentskills.io)."""

import html
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Frontmatter(BaseModel):
    """The metadata of a skill that a model sees before loading it: the head of SKILL.md."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    name: str
    """Lower-case letters, digits and single hyphens; also the name of the skill's folder."""
    description: str
    """Tells a model what the skill is for, and when to load it."""
    license: str | None = None
    """The skill's license; for readers."""
    compatibility: str | None = None
    """What the skill requires of its environment; for readers, at most 500 characters."""
    allowed_tools: str | None = Field(
        None, alias="allowed-tools", serialization_alias="allowed-tools"
    )
    """Names of tools, separated by spaces. For clients; the runtime doesn't use it."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """`adk_additional_tools` lists tools of the toolset that come with the skill;
    `adk_inject_state: true` fills in `{var}` in the instructions."""

    @field_validator("metadata")
    @classmethod
    def _check_metadata(cls, value: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(value.get("adk_additional_tools", []), list):
            raise ValueError(  # noqa: TRY004  pydantic's way
                "adk_additional_tools must be a list of tool names"
            )
        if not isinstance(value.get("adk_inject_state", False), bool):
            raise ValueError("adk_inject_state must be true or false")  # noqa: TRY004
        return value

    @field_validator("name")
    @classmethod
    def _check_name(cls, value: str) -> str:
        name = unicodedata.normalize("NFKC", value)
        if len(name) > MAX_NAME:
            raise ValueError(f"name must be at most {MAX_NAME} characters")
        if not _NAME.fullmatch(name):
            raise ValueError(
                "name must be lowercase (a-z, 0-9), with single hyphens between words: write-report"
            )
        return name

    @field_validator("description")
    @classmethod
    def _check_description(cls, value: str) -> str:
        if not value:
            raise ValueError("description must not be empty: the model uses it to choose a skill")
        if len(value) > MAX_DESCRIPTION:
            raise ValueError(f"description must be at most {MAX_DESCRIPTION} characters")
        return value

    @field_validator("compatibility")
    @classmethod
    def _check_compatibility(cls, value: str | None) -> str | None:
        if value is not None and len(value) > MAX_COMPATIBILITY:
            raise ValueError(f"compatibility must be at most {MAX_COMPATIBILITY} characters")
        return value


class Script(BaseModel):
    """The source of a script."""

    src: str
    """The text of the file."""

    def __str__(self) -> str:
        return self.src


class Resources(BaseModel):
    """The files of a skill, by path within its three folders."""

    references: dict[str, str | bytes] = Field(default_factory=dict)
    """Files to read, from `references/`."""
    assets: dict[str, str | bytes] = Field(default_factory=dict)
    """Files to use, from `assets/`."""
    scripts: dict[str, Script] = Field(default_factory=dict)
    """Scripts to run, from `scripts/`."""

    def get_reference(self, reference_id: str) -> str | bytes | None:
        """Return a file of `references/`, or None; bytes if it isn't text."""
        return self.references.get(reference_id)

    def get_asset(self, asset_id: str) -> str | bytes | None:
        """Return a file of `assets/`, or None; bytes if it isn't text."""
        return self.assets.get(asset_id)

    def get_script(self, script_id: str) -> Script | None:
        """Return a file of `scripts/`, or None."""
        return self.scripts.get(script_id)

    def list_references(self) -> list[str]:
        """Return the paths in `references/`."""
        return list(self.references)

    def list_assets(self) -> list[str]:
        """Return the paths in `assets/`."""
        return list(self.assets)

    def list_scripts(self) -> list[str]:
        """Return the paths in `scripts/`."""
        return list(self.scripts)


class Skill(BaseModel):
    """A skill: its metadata, instructions and files."""

    frontmatter: Frontmatter
    """The head of SKILL.md."""
    instructions: str
    """The text of SKILL.md below its head."""
    resources: Resources = Field(default_factory=Resources)
    """Its files."""

    @property
    def name(self) -> str:
        """The name in the head."""
        return self.frontmatter.name

    @property
    def description(self) -> str:
        """The description in the head."""
        return self.frontmatter.description


# Skills as they are described to models (adk-runtime 8.8).


def format_skills_as_xml(skills: Sequence[Frontmatter | Skill]) -> str:
    """Return the names and descriptions, in `<available_skills>`."""
    lines = ["<available_skills>"]
    for skill in skills:
        for tag, text in (("name", skill.name), ("description", skill.description)):
            opening = ["<skill>"] if tag == "name" else []
            lines += [*opening, f"<{tag}>", html.escape(text), f"</{tag}>"]
        lines.append("</skill>")
    return "\n".join([*lines, "</available_skills>"])


# `SkillRegistry`: skills that are looked up on demand (adk-runtime 8.8).


class SkillRegistry(ABC):
    """A registry in which a SkillToolset looks for further skills."""

    @abstractmethod
    async def get_skill(self, *, name: str) -> Skill:
        """Return the skill with that name; raises if there is none."""

    @abstractmethod
    async def search_skills(self, *, query: str) -> list[Frontmatter]:
        """Return the metadata of the skills that fit the query."""

    def search_tool_description(self) -> str | None:
        """Return what the model reads about searching here; None for the default text."""
        return None
