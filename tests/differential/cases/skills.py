"""Skills: listed, read, with files and tools of their own."""

from tests.differential.case import case
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
