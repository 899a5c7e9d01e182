"""What comes with the runtime: agents as tools, memory, artifacts, planners, plugins."""

import io
import zipfile
from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.differing import PLUGIN_STATE
from tests.differential.differing_files import DOCUMENTS, HIDDEN_FILES
from tests.differential.differing_tasks import ARGUMENTS_OF_TASKS
from tests.differential.script import Boom, Call, Raise, Say, call


class City(BaseModel):
    """A city."""

    name: str
    people: int = 0


def look() -> str:
    """Looks."""
    return "ok"


async def _consult(stage, expert: Any, *calls: Any, **how: Any) -> None:
    tool = stage.ns.AgentTool(agent=expert, **how)
    requests = calls or (call("expert", request="Tell me"),)
    await stage.open(
        stage.agent("agent", *requests, "Done.", "Next.", tools=[tool]), state={"x": 1}
    )
    await stage.say()
    await stage.say("next")


@case()
async def an_agent_is_a_tool(stage):
    await _consult(stage, stage.agent("expert", "I know.", description="Knows."))


@case()
async def an_agent_as_tool_has_tools_and_state(stage):
    def write(tool_context) -> Any:
        tool_context.state["y"] = tool_context.state["x"] + 1
        tool_context.state["temp:z"] = 1
        return "written"

    await _consult(
        stage, stage.agent("expert", call("write"), "Ok.", tools=[write], output_key="said")
    )


@case()
async def an_agent_as_tool_saves_a_file(stage):
    async def save(tool_context) -> int:
        return await tool_context.save_artifact("f.txt", types.Part(text="t"))

    await _consult(stage, stage.agent("expert", call("save"), "Saved.", tools=[save]))


@case()
async def an_agent_as_tool_ends_the_turn(stage):
    await _consult(stage, stage.agent("expert", "I know."), skip_summarization=True)


@case()
async def an_agent_as_tool_with_schemas(stage):
    expert = stage.agent("expert", '{"name": "Bern"}', input_schema=City, output_schema=City)
    await _consult(stage, expert, Call("expert", {"name": "Rom", "people": 3}))


@case(differs=ARGUMENTS_OF_TASKS)
async def an_agent_as_tool_gets_wrong_arguments(stage):
    expert = stage.agent("expert", "Ok.", input_schema=City)
    await _consult(stage, expert, Call("expert", {"people": 3}))


@case()
async def an_agent_as_tool_thinks_and_says(stage):
    await _consult(stage, stage.agent("expert", [Say("Hm.", thought=True), "One.", Say("Two.")]))


@case()
async def an_agent_as_tool_fails(stage):
    await _consult(stage, stage.agent("expert", Raise()))


@case()
async def a_sequence_is_a_tool(stage):
    agents = [stage.agent("a", "A.", output_key="a"), stage.agent("b", "B.")]
    seq = stage.ns.SequentialAgent(name="expert", sub_agents=agents, description="Both.")
    await _consult(stage, seq)


@case()
async def two_agents_as_tools_in_one_batch(stage):
    one, two = (stage.agent(name, f"{name} knows.") for name in ("one", "two"))
    tools = [stage.ns.AgentTool(agent=each) for each in (one, two)]
    batch = [call("one", request="a"), call("two", request="b")]
    await stage.open(stage.agent("agent", batch, "Done.", tools=tools))
    await stage.say()


@case()
async def plugins_see_agents_as_tools(stage):
    class Watch(stage.ns.BasePlugin):
        async def before_agent_callback(self, *, agent, callback_context):
            stage.note("agent", agent.name)

        async def before_run_callback(self, *, invocation_context):
            stage.note("run", invocation_context.agent.name)

        async def on_event_callback(self, *, invocation_context, event):
            stage.note("event", event.author)

    tool = stage.ns.AgentTool(agent=stage.agent("expert", "I know."))
    agent = stage.agent("agent", call("expert", request="?"), "Done.", tools=[tool])
    await stage.open(agent, plugins=[Watch(name="watch")])
    await stage.say()


# Memory and artifacts


@case()
async def a_session_is_remembered_and_found(stage):
    async def remember(tool_context) -> str:
        await tool_context.add_session_to_memory()
        return "kept"

    async def search(tool_context, query: str) -> Any:
        response = await tool_context.search_memory(query)
        return [[entry.author, entry.content.parts[0].text] for entry in response.memories]

    answers = call("remember"), "Ok.", call("search", query="blue sky"), "Ok."
    await stage.open(stage.agent("agent", *answers, tools=[remember, search]))
    await stage.say("The sky is blue")
    await stage.say("What color?")


@case()
async def memory_is_loaded_before_the_model_is_asked(stage):
    agent = stage.agent("agent", "Ok.", tools=[stage.ns.preload_memory_tool])
    await stage.open(agent)
    await stage.say("nothing known yet")


@case()
async def artifacts_are_loaded_on_demand(stage):
    async def save(tool_context) -> int:
        return await tool_context.save_artifact("note.txt", types.Part(text="the note"))

    answers = (
        call("save"),
        Call("load_artifacts", {"artifact_names": ["note.txt"]}),
        "Read.",
        "Next.",
    )
    tools = [save, stage.ns.load_artifacts_tool]
    await stage.open(stage.agent("agent", *answers, tools=tools))
    await stage.say()
    await stage.say("next")


async def _saved_and_asked_for(stage, *tools, **settings) -> None:
    async def save(tool_context) -> int:
        await tool_context.add_session_to_memory()
        return await tool_context.save_artifact("note.txt", types.Part(text="the note"))

    answers = call("save"), Call("load_artifacts", {"artifact_names": ["note.txt"]}), "Read."
    tools = [save, stage.ns.load_artifacts_tool, *tools]
    await stage.open(stage.agent("agent", *answers, "Next.", tools=tools, **settings))
    await stage.say("The sky is blue")
    await stage.say("next")


@case(differs=HIDDEN_FILES)
async def artifacts_are_shown_behind_memories(stage):
    await _saved_and_asked_for(stage, stage.ns.preload_memory_tool)


@case(differs=HIDDEN_FILES)
async def artifacts_are_shown_behind_an_instruction(stage):
    await _saved_and_asked_for(stage, static_instruction="Always.", instruction="Now.")


async def _asked_wrongly(stage, names) -> None:
    answers = (Call("load_artifacts", {"artifact_names": names}), "Read.")
    await stage.open(stage.agent("agent", *answers, tools=[stage.ns.load_artifacts_tool]))
    await stage.say()


for _names in ("note.txt", None, [1], []):
    add(
        Case(
            f"artifacts are asked for by {_names!r}",
            partial(_asked_wrongly, names=_names),
        )
    )


def _document(*paragraphs: str, p: str = "w") -> bytes:
    """Return a word processor file with only its text; `p` is the prefix of its tags."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<{p}:p><{p}:r><{p}:t>{each}</{p}:t></{p}:r></{p}:p>" for each in paragraphs)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:  # with a fixed time, for identical bytes
        archive.writestr(
            zipfile.ZipInfo("word/document.xml"),
            f'<{p}:document xmlns:{p}="{space}">{body}</{p}:document>',
        )
    return buffer.getvalue()


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FILES = {
    "a document": ("file.docx", _document("One.", "Two."), DOCX),
    "a document with another prefix": ("file.docx", _document("One.", "Two.", p="ns0"), DOCX),
    "a document of an unknown type": ("file", _document("One."), "application/octet-stream"),
    "an archive that is no document": ("file.zip", _document()[:-30], "application/octet-stream"),
    "a type in capitals": ("file.png", b"png", "IMAGE/PNG; q=1"),
    "a user's file": ("user:file.txt", b"mine", "text/plain"),
}


async def _looked_at(stage, file) -> None:
    name, data, kind = file

    async def save(tool_context) -> int:
        part = types.Part.from_bytes(data=data, mime_type=kind)
        return await tool_context.save_artifact(name, part)

    load_step = Call("load_artifacts", {"artifact_names": [name.removeprefix("user:")]})
    tools = [save, stage.ns.load_artifacts_tool]
    await stage.open(stage.agent("agent", call("save"), load_step, "Read.", tools=tools))
    await stage.say()


for _name, _given in FILES.items():
    add(Case(f"{_name} is looked at", partial(_looked_at, file=_given)))

_signs = ("file.docx", _document("One &amp; two."), DOCX)
add(Case("signs in a document", partial(_looked_at, file=_signs), differs=DOCUMENTS))


# Planners


@case()
async def a_built_in_planner_sets_how_the_model_thinks(stage):
    config = types.ThinkingConfig(include_thoughts=True, thinking_budget=9)
    planner = stage.ns.BuiltInPlanner(thinking_config=config)
    await stage.open(stage.agent("agent", "Ok.", planner=planner))
    await stage.say()


@case()
async def a_planner_marks_thoughts_by_tags(stage):
    answers = [
        [Say("/*PLANNING*/ First look. /*REASONING*/ So I see."), call("look")],
        "/*REASONING*/ It is ok. /*FINAL_ANSWER*/ All is ok.",
        "Plain.",
    ]
    agent = stage.agent(
        "agent", *answers, tools=[look], planner=stage.ns.PlanReActPlanner(), output_key="said"
    )
    await stage.open(agent)
    await stage.say()
    await stage.say("next")


# Plugins


@case()
async def a_plugin_keeps_the_latest_invocations(stage):
    plugin = stage.ns.ContextFilterPlugin(num_invocations_to_keep=2)
    answers = call("look"), "One.", "Two.", call("look"), "Three.", "Four."
    await stage.open(stage.agent("agent", *answers, tools=[look]), plugins=[plugin])
    for text in ("a", "b", "c", "d"):
        await stage.say(text)


@case()
async def a_plugin_instructs_all_agents(stage):
    plugin = stage.ns.GlobalInstructionPlugin(global_instruction="Case: all of {who}")
    agents = [stage.agent("a", "A.", instruction="Case: a"), stage.agent("b", "B.")]
    root = stage.ns.SequentialAgent(name="seq", sub_agents=agents)
    await stage.open(root, plugins=[plugin], state={"who": "us"})
    await stage.say()


@case()
async def a_plugin_lets_failed_tools_be_tried_again(stage):
    failures = [1]

    async def flaky() -> str:
        """Fails at first."""
        if failures:
            failures.pop()
            raise Boom("boom")
        return "fine"

    plugin = stage.ns.ReflectAndRetryToolPlugin(max_retries=2)
    answers = call("flaky"), call("flaky"), "Done."
    await stage.open(stage.agent("agent", *answers, tools=[flaky]), plugins=[plugin])
    await stage.say()


@case()
async def a_plugin_gives_up_on_tools_that_go_on_failing(stage):
    async def fall() -> str:
        """Falls."""
        raise Boom("boom")

    plugin = stage.ns.ReflectAndRetryToolPlugin(max_retries=1)
    answers = call("fall"), call("fall"), call("fall"), "Done."
    await stage.open(stage.agent("agent", *answers, tools=[fall]), plugins=[plugin])
    await stage.say()


@case(differs=PLUGIN_STATE)
async def a_plugin_saves_the_files_of_a_message(stage):
    blob = types.Blob(data=b"\x00\xff", mime_type="image/png", display_name="face.png")
    plugin = stage.ns.SaveFilesAsArtifactsPlugin()
    await stage.open(stage.agent("agent", "Nice."), plugins=[plugin])
    await stage.say([types.Part(text="Look"), types.Part(inline_data=blob)])
