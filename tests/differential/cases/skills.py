"""Skills: listed and read, with their own files and tools."""

from functools import partial

from tests.differential.case import Case, add, case
from tests.differential.script import call


def _skill(stage, name="report", **metadata):
    head = stage.ns.Frontmatter(name=name, description="Writes & counts.", metadata=metadata)
    files = stage.ns.Resources(
        references={"style.md": "Short sentences."},
        assets={"logo.png": b"\x89PNG\xff"},
        scripts={"count.py": stage.ns.Script(src="print(1)")},
    )
    return stage.ns.Skill(frontmatter=head, instructions="Greet {who}.", resources=files)


def _file(path):
    return call("load_skill_resource", skill_name="report", file_path=path)


@case()
async def skills_are_listed_and_read(stage):
    toolset = stage.ns.SkillToolset([_skill(stage, adk_inject_state=True), _skill(stage, "other")])
    answers = (call("list_skills"), call("load_skill", skill_name="report"), "Hello Ann.")
    await stage.open(stage.agent("agent", *answers, tools=[toolset]), state={"who": "Ann"})
    await stage.say()


@case()
async def files_of_skills_are_read(stage):
    toolset = stage.ns.SkillToolset([_skill(stage)])
    paths = ("references/style.md", "scripts/count.py", "style.md")
    await stage.open(stage.agent("agent", *map(_file, paths), "Done.", tools=[toolset]))
    await stage.say()


@case()
async def skills_that_a_model_makes_up(stage):
    toolset = stage.ns.SkillToolset([_skill(stage)])
    answers = (
        call("load_skill", skill_name="nothing"),
        call("load_skill"),
        _file("references/a.md"),
        _file("references/b.md"),
        "I give up.",
    )
    await stage.open(stage.agent("agent", *answers, tools=[toolset]))
    await stage.say()


@case()
async def a_skill_brings_its_tools(stage):
    def publish(text: str):
        return f"published {text}"

    skill = _skill(stage, adk_additional_tools=["publish", "nothing"])
    toolset = stage.ns.SkillToolset([skill], additional_tools=[publish])
    answers = (call("load_skill", skill_name="report"), call("publish", text="it"), "Done.")
    await stage.open(stage.agent("agent", *answers, tools=[toolset]))
    await stage.say()
    await stage.say("Once more.")


@case()
async def a_toolset_finds_the_tools_of_active_skills_itself(stage):
    def publish(text: str):
        return f"published {text}"

    class Shelf(stage.ns.SkillToolset):
        async def _resolve_additional_tools_from_state(self, readonly_context):
            active = self.list_active_skills(readonly_context) if readonly_context else []
            return [stage.ns.FunctionTool(publish)] if active else []

    answers = (call("load_skill", skill_name="report"), call("publish", text="it"), "Done.")
    toolset = Shelf([_skill(stage)])
    await stage.open(stage.agent("agent", *answers, tools=[toolset]))
    await stage.say()


@case()
async def a_skill_is_loaded_by_code(stage):
    def publish(text: str):
        return f"published {text}"

    skill = _skill(stage, adk_additional_tools=["publish"])
    toolset = stage.ns.SkillToolset([], additional_tools=[publish])
    toolset = toolset.clone_with_updated_skills([skill])

    async def load(callback_context):
        for name in ("report", "report", "nothing"):
            try:
                stage.note("loaded", await toolset.load_skill(callback_context, name))
            except ValueError:
                stage.note("unknown", name)
        stage.note("active", toolset.list_active_skills(callback_context))

    answers = (call("publish", text="it"), "Done.")
    agent = stage.agent("agent", *answers, tools=[toolset], before_agent_callback=load)
    await stage.open(agent)
    await stage.say()
    await stage.say("again")


MODES = {
    "for the session": {},
    "for a turn": {"default_mode": "EPHEMERAL"},
    "as long as there is room": {"default_mode": "BOUNDED", "max_active_skills": 2},
    "each in its way": {
        "default_mode": "BOUNDED",
        "max_active_skills": 1,
        "skill_overrides": {"a": "EPHEMERAL", "b": "PERSISTENT"},
    },
    "without limits": {"default_mode": "EPHEMERAL", "enabled": False},
    "and is looked at again": {"revalidate_skills": True},
    "for a turn and is looked at again": {"default_mode": "EPHEMERAL", "revalidate_skills": True},
}


def _lifecycle(stage, default_mode="PERSISTENT", skill_overrides=None, **how):
    modes = stage.ns.SkillLifecycleMode
    return stage.ns.SkillLifecycleConfig(
        default_mode=modes[default_mode],
        skill_overrides={name: modes[mode] for name, mode in (skill_overrides or {}).items()},
        **how,
    )


def _tool(name):
    def made():
        return name

    made.__name__ = f"tool_{name}"
    return made


async def _stays(stage, how):
    names = "abcd"
    skills = [_skill(stage, name, adk_additional_tools=[f"tool_{name}"]) for name in names]
    toolset = stage.ns.SkillToolset(
        skills,
        additional_tools=[_tool(name) for name in names],
        lifecycle_config=_lifecycle(stage, **how),
    )

    def look(callback_context, llm_request):
        active = toolset.list_active_skills(callback_context)
        stage.note(active, sorted(set(llm_request.tools_dict) & {f"tool_{x}" for x in names}))

    async def by_code(tool_context, name: str):
        return [
            await toolset.load_skill(tool_context, name),
            toolset.unload_skill(tool_context, "b"),
            toolset.unload_skill(tool_context, "nothing"),
        ]

    loads = [call("load_skill", skill_name=name) for name in "abac"]
    answers = (*loads, "One.", *loads[1:3], "Two.", call("by_code", name="d"), "Three.", "Four.")
    tools = [toolset, by_code]
    await stage.open(stage.agent("agent", *answers, tools=tools, before_model_callback=look))
    for words in ("one", "two", "three", "four"):
        await stage.say(words)


for _name, _how in MODES.items():
    add(Case(f"a skill stays {_name}", partial(_stays, how=_how)))


@case()
async def skills_that_change_are_told_again(stage):
    skill = _skill(stage)
    toolset = stage.ns.SkillToolset(
        [skill], lifecycle_config=_lifecycle(stage, revalidate_skills=True)
    )
    answers = (call("load_skill", skill_name="report"), "One.", "Two.", "Three.")
    await stage.open(stage.agent("agent", *answers, tools=[toolset]))
    await stage.say("one")
    skill.instructions = "Case: otherwise"
    await stage.say("two")
    skill.resources.scripts["count.py"] = stage.ns.Script(src="print(2)")
    skill.instructions = "Greet {who}."
    await stage.say("three")


@case()
async def limits_of_skills_that_cannot_be(stage):
    for limit in (0, -1):
        try:
            stage.ns.SkillLifecycleConfig(max_active_skills=limit)
        except ValueError:
            stage.note("refused", limit)


MAKING = """\
import os, sys
print("to be read")
os.makedirs("out/__pycache__")
for name in ("out/a.txt", "out/__pycache__/b.pyc", "assets/logo.png"):
    with open(name, "w") as file:
        file.write(name)
with open("out/big", "wb") as file:
    file.truncate(5 * 1024 * 1024 + 1)
print("no end", end="")
if sys.argv[1] != "0":
    print("bad", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""
SHELL = "mkdir out; echo made > out/a.txt; echo said; echo warned >&2; exit $1"
SCRIPTS = {"python": ("make.py", MAKING), "shell": ("make.sh", SHELL)}


async def _makes_files(stage, script, status, **how):
    name, source = SCRIPTS[script]
    skill = _skill(stage)
    skill.resources.scripts[name] = stage.ns.Script(src=source)
    toolset = stage.ns.SkillToolset(
        [skill], code_executor=stage.ns.UnsafeLocalCodeExecutor(), **how
    )
    run = call("run_skill_script", skill_name="report", file_path=name, args=[str(status)])
    await stage.open(stage.agent("agent", run, "Done.", tools=[toolset]))
    await stage.say()


for _script in SCRIPTS:
    for _status in (0, 3):
        add(
            Case(
                f"a script in {_script} that ends with {_status} makes files",
                partial(_makes_files, script=_script, status=_status, save_output_artifacts=True),
            )
        )
add(Case("a script makes files nobody keeps", partial(_makes_files, script="python", status=0)))


COMMANDS = {
    "a script": ("scripts/count.py", "python3 skills/report/scripts/count.py; cat *"),
    "a file of the skill": ("count.py", "cat skills/report/references/style.md"),
    "a failure": ("scripts/count.py", "echo bad >&2; exit 3"),
    "a variable": ("scripts/count.py", "echo $COLOR"),
    "no script": ("scripts/nothing.py", "true"),
    "a path that leads out": ("scripts/../count.py", "true"),
    "no command": ("scripts/count.py", ""),
}


async def _commands(stage, example):
    path, command = example
    environment = stage.ns.LocalEnvironment(env_vars={"COLOR": "red"})
    toolset = stage.ns.SkillToolset([_skill(stage)], environment=environment)
    run = call("run_skill_script", skill_name="report", file_path=path, command=command)
    await stage.open(stage.agent("agent", run, "Done.", tools=[toolset]))
    await stage.say()
    stage.note(toolset.skills_folder.relative_to(environment.working_dir).as_posix())
    await stage.runner.close()
    stage.note("open", environment.is_initialized)


for _name, _given in COMMANDS.items():
    add(Case(f"a skill's command with {_name}", partial(_commands, example=_given)))


@case()
async def settings_of_scripts_that_do_not_go_together(stage):
    environment = stage.ns.LocalEnvironment()
    executor = stage.ns.UnsafeLocalCodeExecutor()
    for how in (
        {"environment": environment, "code_executor": executor},
        {"environment": environment, "save_output_artifacts": True},
        {"environment": environment, "skills_folder": "relative/path"},
        {"skills_folder": "/absolute"},
    ):
        try:
            stage.ns.SkillToolset([], **how)
        except ValueError:
            stage.note("refused", sorted(how))
    toolset = stage.ns.SkillToolset([], environment=environment, skills_folder="/absolute")
    stage.note(str(toolset.skills_folder), str(toolset.clone_with_updated_skills([]).skills_folder))
    stage.note(stage.ns.SkillToolset([]).skills_folder)


@case()
async def an_environment_of_this_machine(stage):
    environment = stage.ns.LocalEnvironment()
    try:
        stage.note(environment.working_dir)
    except RuntimeError:
        stage.note("not ready")
    for _ in range(2):
        await environment.initialize()
    await environment.write_file("deep/file.txt", "text")
    await environment.write_file(environment.working_dir / "bytes", b"\x00")
    stage.note([str(await environment.read_file(path)) for path in ("deep/file.txt", "bytes")])
    for path in ("../out", "/etc/passwd"):
        try:
            await environment.read_file(path)
        except ValueError:
            stage.note("outside", path)
    try:
        await environment.read_file("nothing")
    except FileNotFoundError:
        stage.note("not there")
    killed = await environment.execute("cat deep/file.txt; kill -9 $$")
    stage.note(killed.stdout, killed.exit_code)
    folder = environment.working_dir
    await environment.close()
    stage.note("left", folder.exists(), environment.is_initialized)


@case()
async def a_node_is_a_tool_of_a_skill(stage):
    def helper(request: str) -> str:
        """Helps."""
        return f"helped with {request}"

    node = stage.ns.FunctionNode(func=helper)
    toolset = stage.ns.SkillToolset(
        [_skill(stage, adk_additional_tools=["helper"])], additional_tools=[node]
    )
    answers = (call("load_skill", skill_name="report"), call("helper", request="it"), "Done.")
    await stage.open(stage.agent("agent", *answers, tools=[toolset]))
    await stage.say()
