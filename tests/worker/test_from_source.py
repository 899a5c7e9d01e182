"""Agent code runs as it was saved last, however quickly that was."""

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
    """What a process that may write bytecode loads."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", LOAD + SAY, str(agents)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_file_saved_again_within_a_second_and_of_the_same_size_is_read_anew(tmp_path):
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


def test_an_environment_among_the_agents_keeps_its_bytecode(tmp_path):
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
