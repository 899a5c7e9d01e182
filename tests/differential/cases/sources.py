"""Sources that a tool tells of, in the answer that is made of its result."""

from functools import partial

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.script import Raw, Say, call


async def _sourced(stage, propagated, play):
    found = types.GroundingMetadata(web_search_queries=["weather"])
    told = Raw({"content": stage.ns.content("Rain."), "grounding_metadata": found})
    expert = stage.agent("expert", told)
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
