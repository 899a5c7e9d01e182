"""An agent's code runs as it was last saved, even if it was saved twice within a second."""

import os
import subprocess
import sys
from pathlib import Path

from tests.kit.server import write_app

LOAD = "import sys; from pathlib import Path; from devui.worker.loading import load; "
SAY = "print(load(Path(sys.argv[1]), 'quick').description)"
AGENT = """
from devui.runtime.agents import BaseAgent
from quick.words import WORD

root_agent = BaseAgent(name="quick", description=WORD)
"""


def loaded(agents: Path) -> str:
    """Return what the agent says when loaded by a process that may write bytecode."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", LOAD + SAY, str(agents)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_file_saved_again_with_the_same_time_and_size_is_reloaded(tmp_path):
    write_app(tmp_path, "quick", AGENT)
    words = tmp_path / "quick" / "words.py"
    for word in ("one", "two"):
        words.write_text(f"WORD = {word!r}\n")
        os.utime(words, (1_700_000_000, 1_700_000_000))
        assert loaded(tmp_path) == word


def test_loading_an_agent_writes_nothing_into_its_folder(tmp_path):
    write_app(tmp_path, "quick", AGENT)
    (tmp_path / "quick" / "words.py").write_text("WORD = 'one'\n")
    before = sorted(tmp_path.rglob("*"))
    loaded(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_virtual_environment_in_the_agents_folder_keeps_its_bytecode(tmp_path):
    write_app(
        tmp_path,
        "quick",
        "import sys\nsys.path.append(sys.argv[1] + '/.venv/site-packages')\nimport other\n" + AGENT,
    )
    (tmp_path / "quick" / "words.py").write_text("WORD = 'one'\n")
    library = tmp_path / ".venv" / "site-packages" / "other.py"
    library.parent.mkdir(parents=True)
    library.write_text("")
    assert loaded(tmp_path) == "one"
    assert list(library.parent.glob("__pycache__/other.*.pyc"))
