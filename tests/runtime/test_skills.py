"""Skills: folders of instructions and files that a model reads when it needs them."""

import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest

from devui.runtime.agents import LlmAgent
from devui.runtime.code_executors import UnsafeLocalCodeExecutor
from devui.runtime.environment import LocalEnvironment
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.skills import (
    Frontmatter,
    Resources,
    Script,
    Skill,
    SkillRegistry,
    list_skills_in_dir_async,
    load_skill_from_dir,
    load_skills_from_dir_async,
)
from devui.runtime.tools import BaseToolset
from devui.runtime.tools.skill_toolset import SkillDiscoveryMode, SkillToolset
from tests.kit.stages import run, runner_of, stored
from tests.kit.turns import responses
from tests.source import ROOT

HEAD = "---\nname: {name}\ndescription: Writes reports.\nmetadata:\n  {metadata}\n---\n"


def folder_of(tmp_path, name="report", metadata="author: me", body="Read the style guide."):
    skill = tmp_path / name
    for each in ("references", "assets", "scripts/__pycache__"):
        (skill / each).mkdir(parents=True)
    head = HEAD.format(name=name, metadata=metadata)
    (skill / "SKILL.md").write_text(f"{head}\n{body}\n", encoding="utf-8")
    (skill / "references" / "style.md").write_text("Short sentences.", encoding="utf-8")
    (skill / "assets" / "logo.png").write_bytes(b"\x89PNG\xff")
    (skill / "scripts" / "count.py").write_text(
        "import sys\nprint(sys.argv[1:], open('references/style.md').read())\n", encoding="utf-8"
    )
    (skill / "scripts" / "list.sh").write_text("ls assets; exit $1\n", encoding="utf-8")
    (skill / "scripts" / "data.bin").write_bytes(b"\xff\xfe")
    (skill / "scripts" / "__pycache__" / "x.pyc").write_bytes(b"x")
    return skill


def a_skill(**kwargs) -> Skill:
    head = Frontmatter(
        name="report", description="Writes <reports>.", metadata=kwargs.pop("metadata", {})
    )
    return Skill(frontmatter=head, instructions="Greet {who?}.", resources=Resources(**kwargs))


def agent(toolset, *calls, **kwargs) -> LlmAgent:
    """Return an agent whose model makes these calls in order."""
    answers = [*calls, Say("done")]
    rules = [Rule(then=answers[0])]
    counts: Counter[str] = Counter()
    for call, answer in pairwise(answers):
        counts[call.name] += 1
        rules.insert(0, Rule(after=call.name, calls=counts[call.name], then=answer))
    return LlmAgent(name="writer", model=ScriptedLlm(rules=rules), tools=[toolset], **kwargs)


def declared(request) -> list[str]:
    return [
        one.name for tool in request.config.tools or [] for one in tool.function_declarations or []
    ]


def test_a_folder_is_read_with_all_its_files(tmp_path):
    pytest.importorskip("yaml")
    skill = load_skill_from_dir(folder_of(tmp_path))
    assert (skill.name, skill.description) == ("report", "Writes reports.")
    assert skill.frontmatter.metadata == {"author": "me"}
    assert skill.instructions == "Read the style guide."
    assert skill.resources.get_reference("style.md") == "Short sentences."
    assert skill.resources.get_asset("logo.png") == b"\x89PNG\xff"
    assert skill.resources.list_scripts() == ["count.py", "list.sh"]


async def test_a_folder_of_skills_is_listed_and_loaded(tmp_path, caplog):
    pytest.importorskip("yaml")
    folder_of(tmp_path, "b-two")
    folder_of(tmp_path, "a-one")
    (tmp_path / "empty").mkdir()
    assert [skill.name for skill in await load_skills_from_dir_async(tmp_path)] == [
        "a-one",
        "b-two",
    ]
    assert list(await list_skills_in_dir_async(tmp_path)) == ["a-one", "b-two"]
    assert "empty is not a valid skill" in caplog.text
    wrong = []
    await list_skills_in_dir_async(
        tmp_path, on_error=lambda name, error: wrong.append((name, str(error)))
    )
    assert [name for name, _ in wrong] == ["empty"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: report", "must begin with YAML front matter"),
        ("---\nname: report\n", "must begin with YAML front matter"),
        ("---\n[1\n---\n", "Invalid YAML"),
        ("---\n- a\n---\n", "each line of the front matter"),
        ("---\nname: other\ndescription: d\n---\n", "give both the same name"),
        ("---\nname: Report\ndescription: d\n---\n", "lowercase"),
        ("---\nname: report\ndescription: ''\n---\n", "must not be empty"),
        (
            "---\nname: report\ndescription: d\nmetadata: {adk_additional_tools: x}\n---\n",
            "must be a list",
        ),
    ],
)
def test_the_error_for_an_invalid_skill_says_why(tmp_path, text, message):
    pytest.importorskip("yaml")
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "SKILL.md").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_skill_from_dir(tmp_path / "report")
    with pytest.raises(FileNotFoundError):
        load_skill_from_dir(tmp_path / "nothing")


async def test_a_model_lists_and_reads_skills():
    toolset = SkillToolset([a_skill(references={"a.md": "text"})])
    calls = [
        Call("list_skills"),
        Call("load_skill", skill_name="report"),
        Call("load_skill_resource", skill_name="report", file_path="references/a.md"),
    ]
    runner = runner_of(agent(toolset, *calls))
    listing, read, file = [value for _, value in responses(await run(runner))]
    assert "<description>\nWrites &lt;reports&gt;.\n</description>" in listing["result"]
    assert read["instructions"] == "Greet {who?}."
    assert read["frontmatter"]["name"] == "report"
    assert file["content"] == "text"
    instruction = runner.agent.model.requests[0].config.system_instruction
    assert "`load_skill`" in instruction
    assert "<available_skills>" not in instruction
    assert (await stored(runner)).state["_adk_activated_skill_writer"] == ["report"]


async def test_eager_skills_are_listed_in_the_instruction():
    toolset = SkillToolset([a_skill()], discovery_mode=SkillDiscoveryMode.EAGER)
    runner = runner_of(agent(toolset))
    await run(runner)
    request = runner.agent.model.requests[0]
    assert "<name>\nreport\n</name>" in request.config.system_instruction
    assert "not available" not in request.config.system_instruction
    assert declared(request) == ["load_skill", "load_skill_resource"]


async def test_state_is_filled_in_if_the_skill_requests_it():
    toolset = SkillToolset([a_skill(metadata={"adk_inject_state": True})])
    runner = runner_of(agent(toolset, Call("load_skill", skill_name="report")))
    [(_, read)] = responses(await run(runner, state_delta={"who": "Ann"}))
    assert read["instructions"] == "Greet Ann."


async def test_a_skills_tools_appear_once_it_has_been_loaded():
    def publish(text: str) -> str:
        """Publish a text."""
        return f"published {text}"

    def unused() -> None:
        """Nobody names this one."""

    skill = a_skill(metadata={"adk_additional_tools": ["publish", "nothing"]})
    toolset = SkillToolset([skill], additional_tools=[publish, unused], tool_name_prefix="my")
    calls = [Call("my_load_skill", skill_name="report"), Call("my_publish", text="it")]
    runner = runner_of(agent(toolset, *calls))
    events = await run(runner)
    assert responses(events)[-1] == ("my_publish", {"result": "published it"})
    first, second, _ = runner.agent.model.requests
    assert "my_publish" not in declared(first)
    assert "my_publish" in declared(second)
    assert "my_unused" not in declared(second)


async def test_a_binary_file_is_added_to_the_next_request():
    toolset = SkillToolset([a_skill(assets={"logo.png": b"\x89PNG\xff"})])
    call = Call("load_skill_resource", skill_name="report", file_path="assets/logo.png")
    rules = [Rule(after="load_skill_resource", then=Say("I see.")), Rule(then=call)]
    writer = LlmAgent(name="writer", model=ScriptedLlm(rules=rules), tools=[toolset])
    runner = runner_of(writer)
    [(_, result)] = responses(await run(runner))
    assert "content" not in result
    blob = runner.agent.model.requests[1].contents[-1].parts[1].inline_data
    assert (blob.data, blob.mime_type) == (b"\x89PNG\xff", "image/png")


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("load_skill", {}, "INVALID_ARGUMENTS"),
        ("load_skill", {"skill_name": "x"}, "SKILL_NOT_FOUND"),
        ("load_skill_resource", {"skill_name": "report"}, "INVALID_ARGUMENTS"),
        (
            "load_skill_resource",
            {"skill_name": "report", "file_path": "x/y"},
            "INVALID_RESOURCE_PATH",
        ),
        ("run_skill_script", {"skill_name": "report", "file_path": "b.py"}, "SCRIPT_NOT_FOUND"),
        (
            "run_skill_script",
            {"skill_name": "report", "file_path": "a.rb"},
            "UNSUPPORTED_SCRIPT_TYPE",
        ),
        (
            "run_skill_script",
            {"skill_name": "report", "file_path": "a.rb", "args": ["x"], "positional_args": ["y"]},
            "INVALID_ARGUMENTS",
        ),
    ],
)
async def test_mistakes_of_the_model_are_reported_to_it(name, args, code):
    skill = a_skill(scripts={"a.rb": Script(src="puts 1")})
    toolset = SkillToolset([skill], code_executor=UnsafeLocalCodeExecutor())
    [(_, result)] = responses(await run(runner_of(agent(toolset, Call(name, **args)))))
    assert result["error_code"] == code
    assert result["error"]


async def test_guessing_paths_is_stopped():
    toolset = SkillToolset([a_skill()])
    calls = [
        Call("load_skill_resource", skill_name="report", file_path=f"references/{name}")
        for name in ("a", "b")
    ]
    codes = [
        value["error_code"] for _, value in responses(await run(runner_of(agent(toolset, *calls))))
    ]
    assert codes == ["RESOURCE_NOT_FOUND", "RESOURCE_NOT_FOUND_FATAL"]


def script(name: str, **args) -> Call:
    return Call("run_skill_script", skill_name="report", file_path=f"scripts/{name}", **args)


@pytest.mark.parametrize(
    ("fields", "argv"),
    [
        ({"args": ["a", "b"]}, ["a", "b"]),
        (
            {"args": {"to": "x"}, "short_options": {"n": 1}, "positional_args": ["f"]},
            ["--to", "x", "-n", "1", "--", "f"],
        ),
        ({}, []),
    ],
)
async def test_python_scripts_run_in_a_folder_with_the_skills_files(tmp_path, fields, argv):
    pytest.importorskip("yaml")
    toolset = SkillToolset([load_skill_from_dir(folder_of(tmp_path))])
    runner = runner_of(
        agent(toolset, script("count.py", **fields), code_executor=UnsafeLocalCodeExecutor())
    )
    [(_, result)] = responses(await run(runner))
    assert result["stdout"] == f"{argv} Short sentences.\n"
    assert result["status"] == "success"


@pytest.mark.parametrize(("status", "outcome"), [("0", "success"), ("3", "error")])
async def test_shell_scripts_run_and_their_exit_status_counts(tmp_path, status, outcome):
    pytest.importorskip("yaml")
    toolset = SkillToolset(
        [load_skill_from_dir(folder_of(tmp_path))], code_executor=UnsafeLocalCodeExecutor()
    )
    [(_, result)] = responses(
        await run(runner_of(agent(toolset, script("list.sh", args=[status]))))
    )
    assert (result["stdout"], result["status"]) == ("logo.png\n", outcome)


async def test_without_an_executor_no_scripts_are_offered(tmp_path):
    skill = a_skill(scripts={"a.py": Script(src="print(1)")})
    runner = runner_of(agent(SkillToolset([skill])))
    await run(runner)
    assert "run_skill_script" not in declared(runner.agent.model.requests[0])
    assert "none can run" in runner.agent.model.requests[0].config.system_instruction


class Shelf(SkillRegistry):
    def __init__(self) -> None:
        self.lookups: list[str] = []

    async def get_skill(self, *, name):
        self.lookups.append(name)
        if name != "report":
            raise LookupError("no such skill")
        return a_skill()

    async def search_skills(self, *, query):
        return [a_skill().frontmatter]


async def test_a_registry_is_searched_and_each_skill_looked_up_once():
    shelf = Shelf()
    calls = [
        Call("search_skills", query="report"),
        Call("load_skill", skill_name="report"),
        Call("load_skill", skill_name="report"),
        Call("load_skill", skill_name="other"),
    ]
    search, read, _, failed = [
        value
        for _, value in responses(await run(runner_of(agent(SkillToolset(registry=shelf), *calls))))
    ]
    assert search["result"][0]["name"] == "report"
    assert read["instructions"] == "Greet {who?}."
    assert shelf.lookups == ["report", "other"]
    assert (failed["error_code"], "no such skill" in failed["error"]) == ("REGISTRY_ERROR", True)


def test_skill_names_are_unique():
    with pytest.raises(ValueError, match="same name"):
        SkillToolset([a_skill(), a_skill()])


def test_without_yaml_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['yaml'] = None\n"
        "from devui.runtime.yaml_text import parse_yaml\n"
        "try: parse_yaml('a: 1')\n"
        "except ImportError as error: print(error)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "pip install 'devui[yaml]'" in process.stdout


class Lost(LocalEnvironment):
    """An environment that fails to close."""

    async def close(self):
        raise ConnectionError("lost")


async def test_tools_are_closed_even_if_the_environment_fails_to_close(tmp_path):
    closed = []

    class Closing(BaseToolset):
        async def get_tools(self, readonly_context=None):
            return []

        async def close(self):
            closed.append(self)

    environment = Lost(working_dir=tmp_path)
    await environment.initialize()
    toolsets = [Closing(), Closing()]
    skills = SkillToolset([], environment=environment, additional_tools=toolsets)
    with pytest.raises(ConnectionError, match="lost"):
        await skills.close()
    assert closed == toolsets
