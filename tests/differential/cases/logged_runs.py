"""What LoggingPlugin logs, and when; each runtime words it differently."""

import io
import re
from contextlib import redirect_stdout
from functools import partial

from tests.differential.case import Case, add
from tests.differential.script import Boom, Error, Raise, Say, call

KINDS = {
    "USER MESSAGE RECEIVED": "user message",
    "INVOCATION STARTING": "run begins",
    "EVENT YIELDED": "event",
    "INVOCATION COMPLETED": "run ends",
    "AGENT STARTING": "agent begins",
    "AGENT COMPLETED": "agent ends",
    "LLM REQUEST": "model request",
    "LLM RESPONSE": "model response",
    "LLM ERROR": "model error",
    "TOOL STARTING": "tool call",
    "TOOL COMPLETED": "tool result",
    "TOOL ERROR": "tool error",
}
"""google-adk's headings, and the beginnings of the corresponding lines here."""
_HEADING = re.compile("|".join([*KINDS, *(rf"(?<=\] ){kind}\b" for kind in KINDS.values())]))


async def look(a: int = 0) -> str:
    """Looks; async, so that the calls of a batch are told in one order on both runtimes."""
    return f"seen {a}"


def fall() -> None:
    """Falls."""
    raise Boom("boom")


ANSWERS = {
    "a text": ["Hello."],
    "a tool": [call("look", a=1), "Done."],
    "a batch": [[Say("Both."), call("look", a=1), call("look", a=2)], "Done."],
    "a tool that raises": [call("fall")],
    "an unknown tool": [call("gone")],
    "an error": [Error()],
    "a model that raises": [Raise()],
}


async def _logged(stage, answers, play):
    agent = stage.agent("agent", *answers, tools=[look, fall])
    await stage.open(agent, plugins=[stage.ns.LoggingPlugin(name="log")])
    with redirect_stdout(io.StringIO()) as stdout:
        await getattr(stage, play)("go")
    output = stdout.getvalue()
    headings = [KINDS.get(heading, heading) for heading in _HEADING.findall(output)]
    stage.note("hooks", [kind for kind in headings if kind != "event"])
    stage.note("events", headings.count("event"))
    stage.note("names", sorted({name for name in ("agent", "look", "[log]") if name in output}))


for _name, _answers in ANSWERS.items():
    for _play in ("say", "stream"):
        add(Case(f"a log of {_name}, by {_play}", partial(_logged, answers=_answers, play=_play)))
