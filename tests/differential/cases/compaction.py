"""Compacted events: when and which, and what models and later runs see of them."""

from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.differing import GUESSED_TOKENS, SUMMARY_PROMPT
from tests.differential.differing_humans import SUMMED_UP_AFTER_AN_ANSWER
from tests.differential.script import Boom, Raw, Say, call

USAGE = types.GenerateContentResponseUsageMetadata


def look() -> str:
    """Looks."""
    return "ok"


def counting(stage: Any, size: int = 0) -> Any:
    """Return a summarizer that states its number of events; `size` lengthens the summaries."""

    class Counting(stage.ns.BaseEventsSummarizer):
        async def maybe_summarize_events(self, *, events):
            stage.note([(event.author, _texts(event)) for event in events])
            compaction = stage.ns.EventCompaction(
                start_timestamp=events[0].timestamp,
                end_timestamp=events[-1].timestamp,
                compacted_content=stage.ns.content(f"{len(events)} events" + "." * size),
            )
            actions = stage.ns.actions(compaction=compaction)
            return stage.ns.Event(author="user", invocation_id="sum", actions=actions)

    return Counting()


def _texts(event: Any) -> list[str]:
    content = event.content or types.Content(parts=[])
    return [part.text or type(part).__name__ for part in content.parts or []]


async def _by_invocations(stage, interval, overlap, turns, tools, size):
    answers: list[Any] = []
    for turn in range(turns):
        answers += [call("look"), f"Answer {turn}."] if tools and turn % 2 else [f"Answer {turn}."]
    agent = stage.agent("agent", *answers, tools=[look])
    settings = {"compaction_interval": interval, "overlap_size": overlap}
    await stage.open(agent, compaction={"summarizer": counting(stage, size), **settings})
    for turn in range(turns):
        await stage.say(f"turn {turn}")


for _interval in (1, 2, 3):
    for _overlap in (0, 1, 2):
        for _tools in (False, True):
            _with = ", with tools" if _tools else ""
            add(
                Case(
                    f"every {_interval} invocations are summed up, {_overlap} again{_with}",
                    partial(
                        _by_invocations,
                        interval=_interval,
                        overlap=_overlap,
                        turns=6,
                        tools=_tools,
                        size=0,
                    ),
                )
            )
for _size in (20, 60, 200):
    add(
        Case(
            f"a summary of {_size} characters is worth it or not",
            partial(_by_invocations, interval=1, overlap=1, turns=5, tools=True, size=_size),
        )
    )


def _measured(text: str, tokens: int | None) -> Raw:
    usage = USAGE(prompt_token_count=tokens) if tokens is not None else None
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return Raw({"content": content, "usage_metadata": usage})


async def _by_tokens(stage, threshold, retained, measured):
    answers = [_measured(f"Answer {i}.", 30 * (i + 1) if measured else None) for i in range(6)]
    settings = {"token_threshold": threshold, "event_retention_size": retained}
    await stage.open(
        stage.agent("agent", *answers), compaction={"summarizer": counting(stage), **settings}
    )
    for turn in range(6):
        await stage.say(f"turn {turn}")


for _threshold in (15, 50, 100):
    for _retained in (0, 1, 3):
        for _measures in (False, True):
            _how = "measured" if _measures else "guessed"
            add(
                Case(
                    f"from {_threshold} {_how} tokens on all but {_retained} events are summed up",
                    partial(
                        _by_tokens, threshold=_threshold, retained=_retained, measured=_measures
                    ),
                )
            )


async def _tools_by_tokens(stage, retained, measured=True):
    answers: list[Any] = []
    for turn in range(4):
        answers.append([Say("Let me see."), call("look"), call("look")])
        answers.append(_measured(f"Answer {turn}.", 25 if measured else None))
    settings = {"token_threshold": 20, "event_retention_size": retained}
    await stage.open(
        stage.agent("agent", *answers, tools=[look]),
        compaction={"summarizer": counting(stage), **settings},
    )
    for turn in range(4):
        await stage.say(f"turn {turn}")


for _retained in range(5):
    add(
        Case(
            f"calls and responses stay together when all but {_retained} events are summed up",
            partial(_tools_by_tokens, retained=_retained),
        )
    )
add(
    Case(
        "nobody has measured the tokens of calls and responses",
        partial(_tools_by_tokens, retained=2, measured=False),
        GUESSED_TOKENS,
    )
)


async def _ends_oddly(stage, what):
    class Odd(stage.ns.BaseEventsSummarizer):
        async def maybe_summarize_events(self, *, events):
            if what == "raises":
                raise Boom("boom")

    settings = {"compaction_interval": 1, "overlap_size": 0}
    await stage.open(
        stage.agent("agent", "One.", "Two."), compaction={"summarizer": Odd(), **settings}
    )
    await stage.say("a")
    await stage.say("b")


for _what in ("raises", "says nothing"):
    add(Case(f"a summarizer {_what}", partial(_ends_oddly, what=_what)))


@case()
async def a_model_sums_up_what_was_said(stage):
    model = stage.model("Summed up.", "Again.", label="summarizer")
    settings = {"compaction_interval": 2, "overlap_size": 0}
    summarizer = stage.ns.LlmEventSummarizer(model, "Case: {conversation_history}")
    await stage.open(
        stage.agent("agent", "One.", [Say("Hm.", thought=True), "Two."], "Three."),
        compaction={"summarizer": summarizer, **settings},
    )
    for word in ("a", "b", "c"):
        await stage.say(word)


@case()
async def a_summarizer_tells_events_in_its_own_words(stage):
    class Brief(stage.ns.LlmEventSummarizer):
        def _format_events_for_prompt(self, events):
            return ", ".join(event.author for event in events)

    summarizer = Brief(stage.model("Summed up.", label="summarizer"), "{conversation_history}")
    await stage.open(
        stage.agent("agent", "One.", "Two.", "Three."),
        compaction={"summarizer": summarizer, "compaction_interval": 2, "overlap_size": 0},
    )
    for word in ("a", "b", "c"):
        await stage.say(word)


@case(differs=SUMMARY_PROMPT)
async def the_model_of_the_root_sums_up_by_default(stage):
    settings = {"compaction_interval": 2, "overlap_size": 0}
    await stage.open(
        stage.agent("agent", "One.", "Two.", "The summary.", "Three."), compaction=settings
    )
    for word in ("a", "b", "c"):
        await stage.say(word)


@case()
async def a_call_that_waits_is_not_summed_up(stage):
    def wait() -> None:
        """Waits."""

    tool = stage.ns.LongRunningFunctionTool(wait)
    settings = {"compaction_interval": 1, "overlap_size": 0}
    await stage.open(
        stage.agent("agent", "One.", call("wait"), "Three.", "Four.", tools=[tool]),
        compaction={"summarizer": counting(stage), **settings},
    )
    await stage.say("a")
    await stage.say("b")
    await stage.say(stage.answer(stage.call("wait"), result="done"))
    await stage.say("c")


@case(differs=SUMMED_UP_AFTER_AN_ANSWER)
async def a_call_that_was_open_for_long_is_answered(stage):
    def wait() -> None:
        """Waits."""

    tool = stage.ns.LongRunningFunctionTool(wait)
    settings = {"compaction_interval": 2, "overlap_size": 0}
    await stage.open(
        stage.agent("agent", call("wait"), "Two.", "Three.", "Four.", "Five.", tools=[tool]),
        compaction={"summarizer": counting(stage), **settings},
    )
    for word in ("a", "b", "c"):
        await stage.say(word)
    await stage.say(stage.answer(stage.call("wait"), result="done"))


@case()
async def a_question_that_was_passed_over_is_summed_up(stage):
    async def pay(tool_context) -> str:
        """Pays."""
        if not tool_context.tool_confirmation:
            tool_context.request_confirmation(hint="Pay?")
            return "asked"
        return "paid"

    answers = ["One.", call("pay"), "Two.", "Three.", call("pay"), "Four.", "Five.", "Six."]
    root = stage.agent("root", *answers, tools=[pay])
    summaries = {"summarizer": counting(stage), "compaction_interval": 1, "overlap_size": 0}
    await stage.open(root, compaction=summaries)
    for turn in range(6):
        await stage.say(f"turn {turn}")
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=True))
    await stage.say("and then")


@case()
async def a_credential_that_was_passed_over_is_summed_up(stage):
    config = stage.ns.AuthConfig.model_validate(
        {
            "auth_scheme": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "raw_auth_credential": {"auth_type": "apiKey", "api_key": "raw"},
            "credential_key": "key",
        }
    )

    async def knock(tool_context) -> str | None:
        """Knocks."""
        tool_context.request_credential(config)
        return None

    answers = ["One.", call("knock"), "Two.", "Three.", "Four."]
    summaries = {"summarizer": counting(stage), "compaction_interval": 2, "overlap_size": 1}
    await stage.open(stage.agent("root", *answers, tools=[knock]), compaction=summaries)
    for turn in range(5):
        await stage.say(f"turn {turn}")


@case()
async def what_was_taken_back_is_not_summed_up(stage):
    settings = {"compaction_interval": 2, "overlap_size": 0}
    await stage.open(
        stage.agent("agent", "One.", "Two.", "Three.", "Four."),
        compaction={"summarizer": counting(stage), **settings},
    )
    [first] = await stage.say("a")
    await stage.rewind(first.invocation_id)
    for word in ("b", "c", "d"):
        await stage.say(word)


@case()
async def a_team_is_summed_up(stage):
    child = stage.agent("child", "I am the child.", "Still me.", "And again.")
    root = stage.agent("root", call("transfer_to_agent", agent_name="child"), sub_agents=[child])
    settings = {"compaction_interval": 2, "overlap_size": 1}
    await stage.open(root, compaction={"summarizer": counting(stage), **settings})
    for word in ("a", "b", "c"):
        await stage.say(word)


@case()
async def a_sequence_is_summed_up(stage):
    agents = [stage.agent("one", *"ABC"), stage.agent("two", *"DEF")]
    root = stage.ns.SequentialAgent(name="seq", sub_agents=agents)
    settings = {"compaction_interval": 2, "overlap_size": 0}
    await stage.open(root, compaction={"summarizer": counting(stage), **settings})
    for word in ("a", "b", "c"):
        await stage.say(word)


@case()
async def both_kinds_of_summaries_together(stage):
    settings = {
        "compaction_interval": 2,
        "overlap_size": 1,
        "token_threshold": 25,
        "event_retention_size": 2,
    }
    await stage.open(
        stage.agent("agent", *(f"A rather long answer, number {i}." for i in range(6))),
        compaction={"summarizer": counting(stage), **settings},
    )
    for turn in range(6):
        await stage.say(f"turn {turn}")


@case()
async def a_streamed_conversation_is_summed_up(stage):
    settings = {"compaction_interval": 2, "overlap_size": 0}
    await stage.open(
        stage.agent("agent", *(Say(f"Answer {i}.", chunks=3) for i in range(4))),
        compaction={"summarizer": counting(stage), **settings},
    )
    for turn in range(4):
        await stage.stream(f"turn {turn}")
