"""A process that runs a tree of agents and kills itself, for tests of what it leaves behind.

`python -m tests.kit.killed_process TREE FILE AFTER` kills itself as soon as the caller has
received that many events of the turn. With AFTER 0, it runs to the end.
"""

import asyncio
import os
import signal
import sys

from devui.runtime.agents import Agent, BaseAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.runners import Runner
from devui.runtime.sessions import SqliteSessionService
from devui.worker.loading import load
from tests.kit.stages import WHERE, said
from tests.source import ROOT

MESSAGE = "Write a sad story about a lonely lighthouse"


def look(n: int) -> str:
    """Look."""
    return f"seen {n}"


def _worker(name: str) -> Agent:
    rules = [Rule(after="look", then=Say(f"{name} saw")), Rule(then=Call("look", n=1))]
    return Agent(name=name, model=ScriptedLlm(rules=rules), tools=[look])


def _app(root: BaseAgent) -> App:
    config = ResumabilityConfig(is_resumable=True)
    return App(name="app", root_agent=root, resumability_config=config)


def _flow() -> App:
    app = load(ROOT / "agents", "story_flow")
    assert isinstance(app, App)
    return app


TREES = {
    "story flow": _flow,
    "loop": lambda: _app(
        LoopAgent(name="loop", max_iterations=2, sub_agents=[_worker("a"), _worker("b")])
    ),
    "parallel": lambda: _app(
        SequentialAgent(
            name="seq",
            sub_agents=[
                ParallelAgent(name="par", sub_agents=[_worker("a"), _worker("b")]),
                _worker("c"),
            ],
        )
    ),
}


def runner_on(tree: str, file: str) -> Runner:
    """Return a runner of the tree, with its sessions in the file."""
    runner = Runner(app=TREES[tree](), session_service=SqliteSessionService(file))
    runner.auto_create_session = True
    return runner


async def main(tree: str, file: str, after: int) -> None:
    """Run one turn."""
    seen = 0
    async for event in runner_on(tree, file).run_async(**WHERE, new_message=said(MESSAGE)):
        seen += not event.partial
        if seen == after:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
