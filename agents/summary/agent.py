"""SummaryAgent streams three main points in forty chunks over about three seconds."""

import os

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

GEMINI = os.environ.get("DEVUI_MODEL") if os.environ.get("GOOGLE_API_KEY") else None

SUMMARY = """\
The document discusses three main points:

1. **Events carry everything.** User messages, answers, tool calls, state changes and control \
signals all travel as events, so the list of events *is* the history of a session.
2. **Commit comes before resume.** The Runner stores an event before the agent runs on, which is \
why code after a `yield` can rely on what the event said.
3. **Fragments are for the eye.** Partial events go to the screen at once and are never stored; \
the complete answer at the end is the one that counts.
"""
THOUGHT = "The user wants the essence. Three points stand out; examples and asides can go."
SHORT = "Events are the history, commits come before resumption, fragments are only shown."

SCRIPT = [
    Rule(
        user=r"\bthink\b",
        then=[
            Say(THOUGHT, chunks=8, delay=0.06, thought=True),
            Say(SUMMARY, chunks=40, delay=0.05),
        ],
    ),
    Rule(user=r"\b(short|shorter|one sentence)\b", then=Say(SHORT, chunks=6, delay=0.06)),
    Rule(then=Say(SUMMARY, chunks=40, delay=0.075)),
]

root_agent = Agent(
    name="SummaryAgent",
    description="Summarizes a document in three points.",
    model=GEMINI or ScriptedLlm(model="scripted-summary", rules=SCRIPT),
    instruction="Summarize what the user gives you in three main points, as a numbered list.",
)
