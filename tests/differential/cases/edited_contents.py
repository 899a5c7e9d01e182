"""Requests whose contents are edited by other code; the history stays unchanged."""

from typing import Any

from google.genai import types

from tests.differential.case import case
from tests.differential.differing_sharing import EDITING_MODEL
from tests.differential.script import call


def _edit(callback_context, llm_request):
    for content in llm_request.contents:
        content.parts.append(types.Part(text="Noted."))
        for part in content.parts:
            if part.text:
                part.text = part.text.replace("secret", "***") + "!"
            if part.inline_data:
                part.inline_data = None


def _look() -> str:
    """Look."""
    return "ok"


@case()
async def a_callback_edits_the_contents_in_place(stage):
    answers = call("_look"), "A secret.", "Yes."
    await stage.open(stage.agent("agent", *answers, tools=[_look], before_model_callback=_edit))
    await stage.say("My secret.")
    await stage.say("again")


@case()
async def a_plugin_edits_the_contents_in_place(stage):
    class Editing(stage.ns.BasePlugin):
        async def before_model_callback(self, *, callback_context, llm_request):
            _edit(callback_context, llm_request)

    one, two = stage.agent("one", "A secret."), stage.agent("two", "Yes.")
    team = stage.ns.SequentialAgent(name="team", sub_agents=[one, two])
    await stage.open(team, plugins=[Editing("editing")])
    await stage.say("My secret.")


def _rearrange(callback_context, llm_request):
    """Rearrange contents like code that shortens or rewords them."""
    contents = llm_request.contents
    contents[:0] = [types.UserContent("First of all.")]
    contents.insert(1, types.ModelContent("Go on."))
    del contents[2]
    contents[-1].parts[0].text += " Please."
    contents += contents[:1]
    latest = contents.pop()
    llm_request.contents = [latest, *contents, latest]
    for content in llm_request.contents[-2:]:
        content.parts[0].text = f"({content.parts[0].text})"


@case()
async def a_callback_rearranges_the_contents(stage):
    answers = "One.", "Two.", "Three."
    await stage.open(stage.agent("agent", *answers, before_model_callback=_rearrange))
    for text in ("one", "two", "three"):
        await stage.say(text)


def _preparing(base: Any, **more: Any) -> Any:
    """Return a tool or toolset class that adds to the user's text."""

    async def process_llm_request(self, *, tool_context, llm_request):
        _edit(tool_context, llm_request)

    return type("Preparing", (base,), {"process_llm_request": process_llm_request, **more})


@case()
async def a_tool_edits_the_contents_in_place(stage):
    tool = _preparing(stage.ns.BaseTool)(name="preparing", description="")
    answers = call("_look"), "A secret.", "Yes."
    await stage.open(stage.agent("agent", *answers, tools=[tool, _look]))
    await stage.say("My secret.")
    await stage.say("again")


@case()
async def a_toolset_edits_the_contents_in_place(stage):
    async def get_tools(self, readonly_context=None):
        return []

    toolset = _preparing(stage.ns.BaseToolset, get_tools=get_tools)()
    await stage.open(stage.agent("agent", "A secret.", "Yes.", tools=[toolset]))
    await stage.say("My secret.")
    await stage.say("again")


@case(differs=EDITING_MODEL)
async def a_model_edits_the_contents_in_place(stage):
    class Editing(stage.ns.BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            llm_request.contents[-1].parts[0].text += "!"
            yield stage.ns.LlmResponse(content=types.ModelContent("Yes."))

    await stage.open(stage.ns.LlmAgent(name="agent", model=Editing(model="editing")))
    await stage.say("Hello.")
