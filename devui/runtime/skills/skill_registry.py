"""`SkillRegistry`: skills that are found when they are needed (adk-runtime 8.8)."""

from abc import ABC, abstractmethod

from devui.runtime.skills.models import Frontmatter, Skill


class SkillRegistry(ABC):
    """A place where a SkillToolset looks for skills that it was not given."""

    @abstractmethod
    async def get_skill(self, *, name: str) -> Skill:
        """The skill of that name; raises if there is none."""

    @abstractmethod
    async def search_skills(self, *, query: str) -> list[Frontmatter]:
        """What is known of the skills that fit the query."""

    def search_tool_description(self) -> str | None:
        """What the model reads about searching here; None for the usual words."""
        return None
