"""Which changes on the disk make an app's code be read anew."""

from collections.abc import Iterable
from pathlib import Path

from watchfiles import Change, DefaultFilter


class AgentFiles(DefaultFilter):
    """What an agent's behaviour may depend on; not data folders, caches or editors' files."""

    endings = (".py", ".yaml", ".yml", ".env", ".json", ".md", ".txt", ".toml")
    marks = ("agent.py", "__init__.py", "root_agent.yaml")

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def __call__(self, change: Change, path: str) -> bool:
        """Whether the change counts."""
        name = Path(path).name
        # Of a folder that gets another name nothing else is told.
        is_app = not name.startswith(".") and (
            Path(path).parent == self._root
            or (change is Change.deleted and not Path(path).suffix)
            or any((Path(path) / mark).is_file() for mark in self.marks)
        )
        counts = is_app or name.endswith(self.endings) or name == ".env"
        return counts and "/.devui/" not in path and super().__call__(change, path)


def touched(batch: set[tuple[Change, str]], root: Path, names: Iterable[str]) -> set[str]:
    """The apps whose folder a change is in, or else all that share its topmost folder.

    `names` are the apps that are known. A change of no app is told of by its topmost folder.
    """
    apps = {name: tuple(name.split(".")) for name in names}
    changed: set[str] = set()
    for path in (Path(path) for _, path in batch if Path(path).is_relative_to(root)):
        parts = path.relative_to(root).parts
        owners = {name for name, own in apps.items() if own == parts[: len(own)]}
        beside = {name for name, own in apps.items() if own[:1] == parts[:1]}
        changed |= owners or beside or set(parts[:1])
    return changed
