"""`devui doctor` finds planted faults, reports them plainly, and changes nothing."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import venv
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from devui.cli import main
from devui.store.sqlite import folder
from tests.kit.debugged_run import DebuggedRun
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.ports import default_port_taken
from tests.kit.server import SAMPLES, Server, make_session, run, running, write_app
from tests.kit.terminal import devui

FLIGHT = "Find me a flight to London"


@pytest.fixture(scope="module")
def used(tmp_path_factory) -> Path:
    """The data folder of a well-used server that shut down cleanly."""
    folder = tmp_path_factory.mktemp("doctor") / "data"
    with running(SAMPLES, folder) as server, server.client() as client:
        debugged = DebuggedRun(client, "travel", state={"user:home_airport": "BRN", "n": 1})
        debugged.start(FLIGHT, pause=False).settled()
        path = f"/apps/travel/users/u/sessions/{debugged.session}"
        client.patch(path, json={"stateDelta": {"n": None, "app:x": [1.5, "ü"], "user:y": {}}})
        fork = client.post(f"/api/sessions/{debugged.key}/forks", json={"number": 4})
        assert fork.status_code < 300, fork.text
        session_id = make_session(client, "travel", state={"user:left": 1, "app:left": 2})["id"]
        run(client, "travel", session_id, FLIGHT)
        assert client.delete(f"/apps/travel/users/u/sessions/{session_id}").status_code == 200
    return folder


@pytest.fixture
def data(used, tmp_path) -> Path:
    """A copy of that data folder, to plant a fault in."""
    return Path(shutil.copytree(used, tmp_path / "data"))


@pytest.fixture
def agents(tmp_path) -> Path:
    folder = tmp_path / "agents"
    write_app(
        folder, "fine", "from devui.runtime.agents import Agent\nroot_agent = Agent(name='a')\n"
    )
    return folder


def doctor(data: Path, agents: Path = SAMPLES, *options: str) -> tuple[int, dict[str, list[dict]]]:
    arguments = ["--data-dir", str(data), "--agents", str(agents), *options]
    done = CliRunner().invoke(main, ["doctor", *arguments, "--json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done.exit_code, json.loads(done.output)


def findings(report: dict[str, list[dict]], level: str, area: str | None = None) -> list[str]:
    """The findings of a level, in one area or in all."""
    areas = report if area is None else [area]
    return [each["what"] for a in areas for each in report[a] if each["level"] == level]


def plant(data: Path, *statements: str) -> None:
    """Change the journal as none of our servers would."""
    with closing(sqlite3.connect(data / "journal.db", isolation_level=None)) as journal:
        for statement in statements:
            assert journal.execute(statement).rowcount != 0, statement


@pytest.mark.req("R36")
def test_every_test_servers_journal_is_checked_when_it_stops(tmp_path):
    server = Server(SAMPLES, tmp_path / "data").start()
    with server.client() as client:
        make_session(client, "travel", state={"n": 1})
        debugged = DebuggedRun(client, "travel").start(
            "Book a flight to London next Tuesday", pause=False
        )
        debugged.settled()
    server.stop()
    plant(server.data, "DELETE FROM writes WHERE seq = (SELECT max(seq) FROM writes)")
    with pytest.raises(AssertionError, match="says something else than what it wrote"):
        server.start().stop()


@pytest.mark.req("R36")
def test_a_sound_data_folder_has_no_faults_and_is_left_unchanged(data):
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    status, report = doctor(data)
    assert findings(report, "fault") == []
    assert status == 0
    assert "2 sessions with " in findings(report, "good", "journal")[0]
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before


@pytest.mark.req("R36")
@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        (["DELETE FROM events WHERE session = 1 AND number = 3"], "numbers are missing"),
        (["UPDATE sessions SET events = events + 1 WHERE key = 1"], "the head of session 1 counts"),
        (["UPDATE sessions SET seq = 1 WHERE key = 1"], "behind its newest event"),
        (["UPDATE journal SET seq = 3"], "the journal's counter stands at 3"),
        (["UPDATE kinds SET events = 99 WHERE session = 1"], "session 1 counts 99 events of kind"),
        (
            ["UPDATE events SET seq = 90000 WHERE session = 1 AND number = 2"],
            "event #3 of session 1 was committed before the one it follows",
        ),
        (["UPDATE writes SET value = '7' WHERE key = 'y'"], "event #"),
        (["DELETE FROM writes WHERE key = 'x' AND value LIKE '%1.5%'"], "says something else"),
        (
            ["INSERT INTO writes SELECT 90000, own_scope, 'forged', '1' FROM sessions LIMIT 1"],
            "the state key 'forged' of session 1 was written by no event of it",
        ),
        (["UPDATE events SET data = '{', checksum = NULL WHERE number = 2"], "cannot be read"),
        (["UPDATE events SET data = '[1]', checksum = NULL WHERE number = 2"], "cannot be read"),
        (["UPDATE writes SET value = 'nonsense' WHERE key = 'y'"], "cannot be read"),
        (["DELETE FROM runs WHERE id = (SELECT run FROM spans LIMIT 1)"], "spans belong to run"),
        (["DELETE FROM sessions WHERE key = 1"], "refers to a row of sessions that is not there"),
        (["DELETE FROM sessions WHERE key = 1"], "belongs to no session"),
        (["DELETE FROM scopes WHERE kind = 'app'"], "the shared state of session 1 is nowhere"),
        (["INSERT INTO contents (text) VALUES ('lost')"], "belongs to no artifact"),
    ],
)
def test_a_planted_fault_is_found(data, statements, sentence):
    plant(data, *statements)
    status, report = doctor(data)
    assert status == 1
    assert sentence in "\n".join(findings(report, "fault", "journal"))
    assert findings(report, "good", "journal") == []


@pytest.mark.req("R43")
@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda content: b"no database at all" * 100, "is not an SQLite database"),
        (lambda content: content[: len(content) // 2], "is malformed"),
        (lambda content: content[:8192] + bytes(4096) + content[12288:], "is damaged"),
        (lambda content: content[:68] + b"abcd" + content[72:], "belongs to another application"),
        (lambda content: content[:60] + b"\0\0\3\xe7" + content[64:], "has version 999"),
    ],
)
def test_a_damaged_or_foreign_file_is_reported_and_left_alone(data, damage, sentence):
    file = data / "journal.db"
    file.write_bytes(damage(file.read_bytes()))
    before = file.read_bytes()
    status, report = doctor(data)
    assert status == 1
    assert sentence in "\n".join(findings(report, "fault", "journal"))
    assert file.read_bytes() == before


@pytest.mark.req("R43")
@pytest.mark.parametrize(
    "make",
    [
        lambda file: file.mkdir(),
        lambda file: file.symlink_to(file.parent / "elsewhere"),
        lambda file: file.symlink_to("/etc/passwd"),
        os.mkfifo,
    ],
    ids=["folder", "broken link", "link", "pipe"],
)
def test_a_journal_that_is_not_a_plain_file_is_reported(data, make):
    (data / "journal.db").unlink()
    make(data / "journal.db")
    status, report = doctor(data)
    assert status == 1
    [fault] = findings(report, "fault")  # the only one: a link's target isn't read
    assert "is not a plain file; move it away" in fault


def test_many_faults_of_one_kind_are_summarized(data):
    plant(
        data,
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
        " INSERT INTO contents (text) SELECT 'lost' FROM n",
    )
    faults = findings(doctor(data)[1], "fault", "journal")
    assert len(faults) == 21
    assert faults[-1] == "… and 480 more like this"


def test_an_older_journal_is_a_note_and_not_migrated(data):
    plant(data, "PRAGMA user_version = 3")
    status, report = doctor(data)
    assert status == 0
    assert "version 3 is older" in findings(report, "note", "journal")[0]
    with closing(sqlite3.connect(data / "journal.db")) as journal:
        assert journal.execute("PRAGMA user_version").fetchall() == [(3,)]


HOLDS = """
import sqlite3, sys
journal = sqlite3.connect(sys.argv[1], isolation_level=None)
journal.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.req("R41")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a lock")
def test_a_program_that_locks_the_journal_is_named(data):
    command = [sys.executable, "-c", HOLDS, str(data / "journal.db")]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        status, report = doctor(data)
        [note] = findings(report, "note", "journal")
        assert note.startswith(f"process {other.pid} has locked the journal for writing")
        assert (status, findings(report, "fault")) == (0, [])
        other.stdin.close()
    assert findings(doctor(data)[1], "note", "journal") == []


@pytest.mark.req("R43")
def test_a_damaged_journal_comes_with_advice_on_recovery(data):
    journal = data / "journal.db"
    content = journal.read_bytes()
    journal.write_bytes(content[: len(content) // 2 + 100])
    _, report = doctor(data)
    [fault] = [each for each in report["journal"] if each["level"] == "fault"]
    assert "malformed" in fault["what"] or "is damaged" in fault["what"]
    assert f"sqlite3 {journal} .recover" in fault["advice"]
    assert "the next server sets this file aside" in fault["advice"]


@pytest.mark.req("R10")
def test_files_readable_by_others_are_faults_with_a_chmod_command(data, tmp_path):
    (data / "journal.db").chmod(0o644)
    data.chmod(0o755)
    status, report = doctor(data)
    assert status == 1
    faults = [each for each in report["data folder"] if each["level"] == "fault"]
    assert {each["advice"] for each in faults} == {
        f"chmod 700 {data}",
        f"chmod 600 {data / 'journal.db'}",
    }
    (tmp_path / "link").symlink_to(data)
    assert "is a symbolic link" in findings(doctor(tmp_path / "link")[1], "fault", "data folder")[0]


@pytest.mark.req("R42")
@pytest.mark.parametrize(
    ("planted", "what"),
    [
        (("shutil.disk_usage", lambda _: SimpleNamespace(free=4096)), "its disk is full"),
        (("os.access", lambda path, mode: mode != os.W_OK), "the data folder is not writable"),
    ],
)
def test_a_folder_that_cannot_be_written_to_is_a_fault(data, monkeypatch, planted, what):
    monkeypatch.setattr(*planted)
    status, report = doctor(data)
    assert status == 1
    [fault] = findings(report, "fault", "data folder")
    assert fault.startswith(what)


@pytest.mark.req("R46")
def test_a_data_folder_on_a_network_disk_or_in_dropbox_is_a_note(data, tmp_path, monkeypatch):
    mounts = [
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
        f"23 22 0:44 / {tmp_path}/of\\040others rw - nfs4 server:/homes rw",
        f"24 23 0:45 / {tmp_path}/of\\040others/near rw - ext4 /dev/sdb1 rw",
    ]
    (tmp_path / "mounts").write_text("\n".join(mounts) + "\n")
    monkeypatch.setattr(folder, "MOUNTS", tmp_path / "mounts")
    others = tmp_path / "of others"
    for where, notes in [
        (others, ["the data folder is on a network disk (nfs4)"]),
        (others / "near", []),
        (others / "near" / "Dropbox", ["the data folder is inside Dropbox"]),
        (tmp_path / "own", []),
    ]:
        shutil.copytree(data, where / "data")
        status, report = doctor(where / "data")
        assert (status, findings(report, "note", "data folder")) == (0, notes)


def test_a_journal_set_aside_as_damaged_is_a_note_with_advice(data):
    (data / "journal.db.damaged-20260101T000000Z").write_bytes(b"x")
    (data / "journal.db.damaged-20260101T000000Z").chmod(0o600)
    [note] = [each for each in doctor(data)[1]["data folder"] if each["level"] == "note"]
    assert "set aside as damaged" in note["what"]
    assert ".recover" in note["advice"]


def test_a_running_server_is_good_and_a_killed_one_is_a_note(tmp_path):
    with running(SAMPLES, tmp_path / "data") as server, server.client() as client:
        held = DebuggedRun(client, "travel").start(FLIGHT)
        held.settled()
        held.tell("step_event")
        status, report = doctor(server.data)
        assert (status, findings(report, "fault"), findings(report, "note", "journal")) == (
            0,
            [],
            [],
        )
        good = findings(report, "good", "data folder")
        assert f"process {server.pid} is using it, at {server.url}" in good
        server.kill()
        status, report = doctor(server.data)
        assert (status, findings(report, "fault")) == (0, [])
        assert findings(report, "note", "journal") == [f"interrupted: 1 run, {held.run}"]
        assert f"process {server.pid}, which was using it, was killed" in findings(report, "note")
        server.start()
        assert findings(doctor(server.data)[1], "note", "journal") == []


@pytest.mark.req("R22")
def test_apps_are_checked_without_running_them(data, agents):
    marker = agents / "marker"
    write_app(agents, "marks", f"open({str(marker)!r}, 'w')\nroot_agent = 1\n")
    write_app(agents, "broken", "root_agent = (\n")
    write_app(agents, "empty", "def root_agent(): ...\nif True:\n    other = 1\n")
    write_app(agents, "nothing", "other = 1\n")
    write_app(agents, "branches", "if True:\n    from x import agent as root_agent\n")
    write_app(agents, "foreign", "\nfrom google.adk.agents import Agent\nroot_agent = Agent()\n")
    write_app(agents, "1st", "root_agent = 1\n")
    status, report = doctor(data, agents)
    assert status == 1
    assert findings(report, "good", "apps") == [
        *(f"{name} looks loadable; engine devui" for name in ("branches", "empty", "fine")),
        "foreign looks loadable; engine devui: its imports of google.adk resolve to devui.runtime",
        "marks looks loadable; engine devui",
    ]
    [fault] = findings(report, "fault", "apps")
    assert fault.startswith(f"cannot read {agents}/broken/agent.py:1: ")
    nothing, first = findings(report, "note", "apps")
    assert nothing.startswith("nothing has no `root_agent` or `app`")
    assert first.startswith(f"{agents}/1st looks like an agent but is not listed")
    assert not marker.exists()


@pytest.mark.parametrize("code", ["", "from . import tools\n"])
def test_the_package_of_a_yaml_app_is_checked(data, agents, code):
    folder = agents / "described"
    folder.mkdir()
    (folder / "root_agent.yaml").write_text("name: a\n")
    (folder / "__init__.py").write_text(code)
    status, report = doctor(data, agents)
    if code:
        assert status == 1
        assert "there is no module described/tools" in findings(report, "fault", "apps")[0]
    else:
        assert status == 0
        assert "described is described in root_agent.yaml" in findings(report, "good", "apps")
        assert findings(report, "note", "apps") == []


def test_relative_imports_are_followed_without_running_them(data, agents):
    write_app(agents, "gone", "from .tools import price\nroot_agent = 1\n")
    write_app(agents, "deep", "from .one import two\nfrom . import agent, one\nroot_agent = 1\n")
    (agents / "deep" / "one.py").write_text("x = 1\nfrom . import three\n")
    lazy = "try:\n    from .a import b\nexcept ImportError:\n    b = 1\n"
    lazy += "if b is None:\n    from .c import d\ndef f():\n    from .e import g\n"
    lazy += "from contextlib import suppress\nwith suppress(ImportError):\n    from .h import i\n"
    lazy += "from . import *\nwhile False:\n    from .j import k\n"
    lazy += "match b:\n    case 2:\n        from .l import m\n"
    lazy += "try:\n    pass\nexcept ValueError:\n    from .n import o\n"
    lazy += "try:\n    from .p import q\nexcept* ImportError:\n    pass\n"
    lazy += f"if b is None:\n    from {'.' * 99} import far\n"
    write_app(agents, "lazy", f"{lazy}root_agent = 1\n")
    (agents / "lazy" / "a_spare.py").write_text("from .never import loaded\n")
    write_app(agents, "hollow", "root_agent = 1\n")
    hollow = "from . import agent, gone"
    (agents / "hollow" / "__init__.py").write_text(f"{hollow}\n")
    write_app(agents, "whole", "from .parts import x\nfrom . import parts, y\nroot_agent = 1\n")
    (agents / "whole" / "parts").mkdir()
    (agents / "whole" / "parts" / "__init__.py").write_text("from ..z import x\n")
    (agents / "whole" / "z.py").write_text("x = 1\n")
    (agents / "whole" / "z").mkdir()
    write_app(agents, "far", f"from {'.' * 99} import x\nroot_agent = 1\n")
    (agents / "whole" / "__init__.py").write_text("y = 1\n")
    status, report = doctor(data, agents)
    words = "cannot be loaded:"
    assert status == 1
    assert findings(report, "fault", "apps") == [
        f"deep {words} deep/one.py:2: from . import three: there is no module deep/three",
        f"gone {words} gone/agent.py:1: from .tools import price: there is no module gone/tools",
        f"hollow {words} hollow/__init__.py:1: {hollow}: there is no module hollow/gone",
    ]
    assert [each.split()[0] for each in findings(report, "good", "apps")] == [
        "far",
        "fine",
        "lazy",
        "whole",
    ]


def test_missing_packages_that_an_app_imports_are_named(data, agents, tmp_path):
    cloud, pil = "from google.cloud import nothing_v1", "from PIL_absent import Image"
    alpha = "from alpha.tools import x"
    absent = f"from .tools import x\nimport nowhere.deep\n{cloud}\n"
    optional = "try:\n    import absent_one\nexcept ImportError:\n    pass\n"
    lazy = "def f():\n    import absent_two\n"
    write_app(agents, "lacks", f"{absent}{optional}{lazy}import json, pydantic\nroot_agent = 1\n")
    (agents / "lacks" / "tools.py").write_text(f"x = 1\n{pil}\n")
    write_app(agents, "paths", "import sys\nsys.path.append('x')\nimport below\nroot_agent = 1\n")
    write_app(agents, "beside", "import helper\nroot_agent = 1\n")
    (agents / "beside" / "helper.py").write_text("")
    write_app(agents / "team", "alpha", f"{alpha}\nroot_agent = 1\n")
    write_app(agents, "other", "from fine.agent import root_agent\nimport fine\n")
    status, report = doctor(data, agents)
    faults = {each["what"]: each["advice"] for each in report["apps"] if each["level"] == "fault"}
    assert status == 1
    no = "there is no module"
    cannot = "cannot be loaded:"
    assert [*faults] == [
        f"beside {cannot} beside/agent.py:1: import helper: {no} helper where agents run",
        f"lacks {cannot} lacks/agent.py:2: import nowhere.deep: {no} nowhere where agents run",
        f"lacks {cannot} lacks/agent.py:3: {cloud}: {no} google.cloud.nothing_v1 where agents run",
        f"lacks {cannot} lacks/tools.py:2: {pil}: {no} PIL_absent where agents run",
        f"team.alpha {cannot} team/alpha/agent.py:1: {alpha}: {no} alpha where agents run",
    ]
    beside, deep, cloud, pil, alpha = faults.values()
    assert "`from .helper import ...`" in beside
    assert f"{sys.executable} -m pip install nowhere`" in deep
    assert f"{sys.executable} -m pip install google-cloud-nothing`" in cloud
    assert f"{sys.executable} -m pip install PIL-absent`" in pil
    assert alpha.endswith(f"Start devui in {agents / 'team'} instead.")
    good = [each.split()[0] for each in findings(report, "good", "apps")]
    assert good == ["fine", "other", "paths"]


def test_packages_are_compared_with_requirements_and_extras(data, tmp_path, monkeypatch):
    requirements = [
        "absent-one>=2",
        "pyyaml>=5,<99",
        "pyyaml>=5; extra == 'whole'",
        "pyyaml; extra == 'any'",
        "absent-two>=1; extra == 'gone'",
        "pyyaml>=5; extra == 'half'",
        "absent-two>=1; extra == 'half'",
        "pyyaml[fast]>=98.7; extra == 'old'",
        "click>=1; extra == 'old'",
        "absent-two>=1; extra == 'dev'",
    ]
    folder = tmp_path / "devui-9.dist-info"
    folder.mkdir()
    lines = ["Metadata-Version: 2.4", "Name: devui", "Version: 9"]
    lines += [f"Requires-Dist: {each}" for each in requirements]
    (folder / "METADATA").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    status, report = doctor(data)
    assert (status, findings(report, "fault")) == (1, ["absent-one is missing"])
    about = [each for each in report["environment"] if each["what"].startswith("extra")]
    assert about == [
        {
            "level": "note",
            "what": f"extra old: pyyaml {version('pyyaml')} is older than 98.7",
            "advice": "`pip install 'devui[old]'` updates it",
        },
        {
            "level": "good",
            "what": "extras installed: any, whole; not installed: gone, half",
            "advice": "`pip install 'devui[gone,half]'` for agents that need them",
        },
    ]


def test_a_given_python_and_each_apps_engine_are_checked(data, agents, tmp_path):
    write_app(agents, "theirs", "from google import adk\nroot_agent = adk.Agent(name='theirs')\n")
    venv.create(tmp_path / "bare", symlinks=True)
    status, report = doctor(data, agents, "--python", str(tmp_path / "bare"))
    [missing] = findings(report, "fault", "workers")
    assert "google-genai is missing, pydantic is missing" in missing
    assert f"{tmp_path}/bare/bin/python -m pip install 'google-genai>=" in missing
    assert status == 1
    status, report = doctor(data, agents, "--engine", "google-adk")
    assert "theirs cannot run: google-adk is not installed (--engine: google-adk)" in findings(
        report, "fault", "apps"
    )


@needs_adk
def test_apps_that_import_google_adk_run_on_it_if_installed(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "theirs", "from .inner import root_agent\n")
    (agents / "theirs" / "inner.py").write_text("from google.adk.agents import Agent as root_agent")
    write_app(agents, "ours", "from devui.runtime import Agent\nroot_agent = Agent(name='a')\n")
    data = tmp_path / "data"
    with running(agents, data, "--python", str(adk_python())) as server, server.client() as client:
        _, report = doctor(data, agents, "--python", str(adk_python()))
        ours, theirs = findings(report, "good", "apps")
        assert ours == "ours looks loadable; engine devui"
        assert theirs.startswith("theirs looks loadable; engine google-adk 2.")
        assert "google-genai" in findings(report, "good", "workers")[0]
        page = {"Origin": server.url}
        answer = client.post("/apps/theirs/engine", data={"engine": "devui"}, headers=page)
        assert answer.status_code == 303, answer.text
    _, report = doctor(data, agents, "--python", str(adk_python()))
    assert findings(report, "good", "apps")[1].startswith(
        "theirs looks loadable; engine devui (chosen on its page: devui)"
    )


@pytest.mark.req("R64")
def test_keys_are_listed_by_name_without_their_values(data, agents):
    (agents / ".env").write_text("OPENAI_API_KEY=canary-one\nOTHER=canary-two\nGROQ_API_KEY=\n")
    (agents / "fine" / ".env").write_text("ANTHROPIC_API_KEY='canary-three'\n")
    done = devui(
        *("doctor", "--data-dir", str(data), "--agents", str(agents)),
        cwd=data,
        GOOGLE_API_KEY="canary-four",
        DEVUI_TOKEN="canary-five",
    )
    assert done.returncode == 0, done.stdout
    assert "GOOGLE_API_KEY in the environment" in done.stdout
    assert f"OPENAI_API_KEY in {agents / '.env'}" in done.stdout
    assert f"ANTHROPIC_API_KEY in {agents / 'fine' / '.env'}" in done.stdout
    assert "GROQ_API_KEY" not in done.stdout
    assert "canary" not in done.stdout + done.stderr


def test_a_taken_port_is_a_note(data):
    with default_port_taken() as port:
        status, report = doctor(data)
    assert status == 0
    assert any(
        what.startswith(f"port {port} is not available") for what in findings(report, "note")
    )


def test_printed_findings_are_readable_and_escaped(data, agents):
    (agents / "a\x1b[2Jb").mkdir()
    (agents / "a\x1b[2Jb" / "agent.py").write_text("root_agent = 1\n")
    plant(data, "UPDATE sessions SET events = 0 WHERE key = 1")
    done = devui("doctor", "--data-dir", str(data), "--agents", str(agents), cwd=data)
    assert done.returncode == 1
    assert "FAULT  the head of session 1 counts 0 events, and there are " in done.stdout
    assert "→ copy the data folder first" in done.stdout
    assert done.stdout.endswith("1 fault.\n")
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_missing_folders_and_journals_are_reported(tmp_path, agents):
    nothing = devui("doctor", "--data-dir", str(tmp_path / "none"), cwd=tmp_path)
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "there is no data folder" in nothing.stderr
    no_agents = devui("doctor", "--agents", "none", cwd=tmp_path)
    assert (no_agents.returncode, "there is no folder 'none'" in no_agents.stderr) == (2, True)
    fresh = devui("doctor", "--agents", str(agents), cwd=tmp_path)
    assert (fresh.returncode, "there is no data folder '.devui' yet" in fresh.stdout) == (0, True)
    (tmp_path / "empty").mkdir(mode=0o700)
    status, report = doctor(tmp_path / "empty", agents)
    assert (status, findings(report, "note", "journal")) == (0, ["there is no journal yet"])
    assert not any((tmp_path / "empty").iterdir())
