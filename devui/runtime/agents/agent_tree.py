"""Places of agents: in the tree, in a run, on a branch (adk-runtime 1.2, 5.1, 5.6, 6.6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from typing import Any, Protocol

# The places of the agents of a run, as in `root@1/sub@2` (adk-runtime 1.2, 6.6).
#
# A segment is an agent's name and the number of its run in that place: an agent runs again when the
# conversation returns to it. A sub-agent that an agent hands over to works below the agent's place,
# a peer beside it, and its parent, in a new run, beside the parent's former one.


class TreeMember(Protocol):
    """The part of an agent that places depend on: its name, and the agents above and below it."""

    @property
    def name(self) -> str:
        """The agent's name."""

    @property
    def parent_agent(self) -> TreeMember | None:
        """The agent above; None for the root."""

    @property
    def root_agent(self) -> TreeMember:
        """The topmost agent."""

    def find_agent(self, name: str, /) -> TreeMember | None:
        """Return the agent of that name among this one and all below it."""


def path_in_tree(agent: TreeMember) -> str:
    """Return the place of an agent that a run begins with: below all its ancestors' first runs."""
    names = [agent.name]
    above = agent.parent_agent
    while above is not None:
        names.insert(0, above.name)
        above = above.parent_agent
    return "/".join(f"{name}@1" for name in names)


def latest_of_root(start: str, paths: Iterable[str]) -> str:
    """Return where the root continues in an invocation that began at `start`: its latest run.

    Return `start` for an invocation that began below the root or has not begun: the root has no
    earlier run there.
    """
    own = [path for path in paths if _name(path) == _name(start) and "/" not in path]
    return own[-1] if start in own else start


def progress_key(tree: TreeMember | None, path: str | None, name: str) -> str:
    """Return the key under which the progress of the agent `name`, at `path`, is stored.

    In a tree of agents, that is its name, which is unique; in a graph, where a node may run several
    times, its path.
    """
    if not path or _name(path.rpartition("/")[2]) != name:
        return name
    if tree is None or not is_at_home(path, tree.root_agent):
        return path
    return name if tree.root_agent.find_agent(name) else path


def is_in_tree(path: str | None, root: str) -> bool:
    """Return whether the place is in the tree of the root of that name, rather than in a graph."""
    return path is not None and _name(path.partition("/")[0]) == root


def is_at_home(path: str, root: TreeMember) -> bool:
    """Return whether the place is reached from agent to agent, starting at that root.

    An agent of the tree that a tool runs as a node is not.
    """
    first, *between = path.split("/")
    names = map(_name, between[:-1])
    return _name(first) == root.name and all(map(root.find_agent, names))


def is_place_of(path: str | None, agent: str, root: str) -> bool:
    """Return whether it is the place of that agent itself, in the tree of that root."""
    return is_in_tree(path, root) and has_place_of_its_own(path, agent)


def has_place_of_its_own(path: str | None, agent: str) -> bool:
    """Return whether it is the place of that agent, not that of a workflow agent around it."""
    return path is not None and _name(path.rpartition("/")[2]) == agent


def is_in_line(path: str | None, own: str | None) -> bool:
    """Return whether `path` is above or below the place `own`, or equal to it."""
    if not path or not own:
        return True
    return f"{own}/".startswith(f"{path}/") or path.startswith(f"{own}/")


@dataclass(slots=True)
class NodeRuns:
    """Counts the runs of one invocation by place."""

    schemas: dict[str, Any] = field(default_factory=dict)
    """The state schemas of the agents at work, by place."""
    _counts: dict[str, int] = field(default_factory=dict)
    _entered: set[str] = field(default_factory=set)
    """Places that weren't reached by a hand-over: where the invocation began, and above."""

    def schema_above(self, path: str | None) -> Any:
        """Return the state schema of the agent above that place; None without one."""
        return self.schemas.get(path.rpartition("/")[0]) if path else None

    def enter(self, path: str) -> str:
        """Record that the invocation begins or continues at that path, and return the path."""
        above = ""
        for segment in path.split("/"):
            name, _, run = segment.rpartition("@")
            self._counts[_below(above, name)] = int(run)
            above = _below(above, segment)
            self._entered.add(above)
        if "/" in path:
            self._count(_name(segment))  # see _beside
        return path

    def begin(self, above: str, name: str) -> str:
        """Return the place of a new run of `name` directly below `above` ('' for the top)."""
        return f"{_below(above, name)}@{self._count(_below(above, name))}"

    def hand_over(self, path: str, source: TreeMember, target: TreeMember) -> str:
        """Return the place of the agent that takes over from `source`, which works at `path`.

        Within a workflow agent, all agents work in the place of that agent.
        """
        above, _, segment = path.rpartition("/")
        if _name(segment) != source.name:
            return path
        if target.parent_agent is source:
            return self.begin(path, target.name)
        return self._beside(above if target is source.parent_agent else path, target.name)

    def _beside(self, path: str, name: str) -> str:
        above = path.rpartition("/")[0]
        if path not in self._entered:
            return self.begin(above, name)
        # The agents above have not run in this invocation, so this place has a count of its own.
        place = f"{_below(above, name)}@{self._count(name)}"
        self._entered.add(place)
        return place

    def _count(self, place: str) -> int:
        self._counts[place] = self._counts.get(place, 0) + 1
        return self._counts[place]


def is_below(place: str | None, around: str | None, between: str) -> bool:
    """Return whether a path or branch is below another; `between` separates the segments."""
    return bool(place and around) and f"{place}".startswith(f"{around}{between}")


def _below(above: str, segment: str) -> str:
    return f"{above}/{segment}" if above else segment


def _name(segment: str) -> str:
    return segment.rpartition("@")[0] or segment


# Branches: where events were made and which agents see them; names joined by dots (adk-runtime
# 5.6).
#
# A segment is an agent's name, or a name with the call or run that it works for: `expert@adk-1`.


def branch_below(branch: str | None, segment: str) -> str:
    """Return the branch of that segment below another, or at the top."""
    return f"{branch}.{segment}" if branch else segment


def is_within(branch: str | None, ancestor: str) -> bool:
    """Return whether `branch` is `ancestor` or below it."""
    return branch is not None and (branch == ancestor or branch.startswith(f"{ancestor}."))


def is_on_path(branch: str | None, own: str | None) -> bool:
    """Return whether an agent on branch `own` sees `branch`: the same one, or one above it."""
    if not branch or not own:
        return True
    return branch == own or own.startswith(f"{branch}.")


def line(branch: str) -> set[str]:
    """Return the branches that an agent on this one sees: itself and those above it."""
    return set(accumulate(branch.split("."), "{}.{}".format))


def common_branch(branches: Iterable[str | None]) -> str | None:
    """Return the deepest branch that all of these are on or below; None if there is none."""
    paths = [(branch or "").split(".") for branch in branches]
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return ".".join(level[0] for level in levels) or None
