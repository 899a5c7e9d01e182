"""Sources that a tool reports, and the answer based on its result."""

from functools import partial

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.script import Raw, Say, call


async def _sourced(stage, propagated, play):
    grounding = types.GroundingMetadata(web_search_queries=["weather"])
    answer = Raw({"content": stage.ns.content("Rain."), "grounding_metadata": grounding})
    expert = stage.agent("expert", answer)
    tool = stage.ns.AgentTool(agent=expert, propagate_grounding_metadata=propagated)
    answers = call("expert", request="weather?"), Say("It rains.", chunks=2), "Bye."
    await stage.open(stage.agent("agent", *answers, tools=[tool]))
    await getattr(stage, play)()
    await stage.say("next")


for _propagated, _word in ((True, "named"), (False, "kept")):
    for _play, _how in (("say", "whole"), ("stream", "streamed")):
        add(
            Case(
                f"sources of an agent as tool are {_word}, the answer {_how}",
                partial(_sourced, propagated=_propagated, play=_play),
            )
        )


@case()
async def google_search_beside_a_function_is_asked_of_an_agent(stage):
    def clock() -> str:
        """What time it is."""
        return "noon"

    grounding = types.GroundingMetadata(web_search_queries=["weather"])
    answer = Raw({"content": stage.ns.content("Rain."), "grounding_metadata": grounding})
    answers = [call("google_search_agent", request="weather?"), answer, "It rains."]
    model = stage.model(*answers)
    model.model = "gemini-2.5-flash"
    search = stage.ns.GoogleSearchTool(bypass_multi_tools_limit=True)
    await stage.open(stage.agent("agent", model=model, tools=[clock, search]))
    await stage.say("What is the weather?")
