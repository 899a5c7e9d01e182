"""Skills in an environment of their agent's author (adk-runtime 8.8)."""

import asyncio
from pathlib import Path, PurePosixPath, PureWindowsPath

from devui.runtime.environment.base_environment import BaseEnvironment, ExecutionResult
from devui.runtime.skills.models import Skill

_SCRIPTS = "scripts"


class SkillWorkspace:
    """Puts the files of skills where their scripts run, and runs commands there."""

    def __init__(self, environment: BaseEnvironment, folder: Path | str | None) -> None:
        """Choose where skills are: in an absolute folder, or `skills` in that of the environment.

        Raises:
            ValueError: the folder is relative.
        """
        if folder is not None and not _is_absolute(str(folder)):
            raise ValueError(f"skills_folder must be an absolute path, not {str(folder)!r}.")
        self.environment = environment
        self._folder = Path(folder) if folder is not None else None
        self._written: dict[str, str] = {}

    @classmethod
    def of(
        cls, environment: BaseEnvironment | None, folder: Path | str | None
    ) -> "SkillWorkspace | None":
        """None without an environment; ValueError for a folder alone, or a relative one."""
        if environment is not None:
            return cls(environment, folder)
        if folder is not None:
            raise ValueError("skills_folder is a folder of an environment: give that, too.")
        return None

    @property
    def folder(self) -> Path:
        """Where skills are."""
        return self._folder or self.environment.working_dir / "skills"

    async def begin(self) -> None:
        """Make the environment ready, unless it is."""
        if not self.environment.is_initialized:
            await self.environment.initialize()

    async def run(self, skill: Skill, script: str, command: str, seconds: float) -> ExecutionResult:
        """Run a command beside the files of a skill, which are written if the script is not there.

        Raises:
            PermissionError: a path of the skill leads out of its folder.
            Exception: what the environment raises.
        """
        try:
            await self.environment.read_file(self.folder / skill.name / _SCRIPTS / _inner(script))
        except FileNotFoundError:
            await self._write(skill)
        return await self.environment.execute(command, timeout=seconds)

    async def refresh(self, skill: Skill, noted: str) -> None:
        """Write a skill that has changed once more; `noted` is the digest of what it is now."""
        if self._written.get(skill.name) != noted:
            await self.begin()
            await self._write(skill)
            self._written[skill.name] = noted

    async def close(self) -> None:
        """Close the environment, if it was made ready."""
        if self.environment.is_initialized:
            await self.environment.close()

    async def _write(self, skill: Skill) -> None:
        folder = self.folder / skill.name
        files = [(folder / _inner(path), data) for path, data in skill_files(skill)]
        await asyncio.gather(*(self.environment.write_file(path, data) for path, data in files))


def skill_files(skill: Skill) -> list[tuple[str, bytes]]:
    """The files of a skill by their paths in its folder."""
    resources = skill.resources
    found: list[tuple[str, str | bytes]] = [
        *((f"references/{name}", data) for name, data in resources.references.items()),
        *((f"assets/{name}", data) for name, data in resources.assets.items()),
        *((f"{_SCRIPTS}/{name}", script.src) for name, script in resources.scripts.items()),
    ]
    return [(name, data.encode() if isinstance(data, str) else data) for name, data in found]


def _inner(path: str) -> PurePosixPath:
    """A path of a skill's file, which must stay within its folder."""
    found = PurePosixPath(path.replace("\\", "/"))
    if _is_absolute(path) or PureWindowsPath(path).drive or ".." in found.parts:
        raise PermissionError(f"The path of a skill's file leads out of it: {path}")
    return found


def _is_absolute(path: str) -> bool:
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
