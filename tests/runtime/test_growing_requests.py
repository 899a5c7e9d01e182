"""Requests built incrementally equal those built from the whole history.

Source: runtime seed ("history changes only at its end"); devui's own.
"""

from google.genai import types
from hypothesis import example, given
from hypothesis import strategies as st

from devui.runtime.agents import LlmAgent
from devui.runtime.agents.agent_tree import is_in_line
from devui.runtime.apps.compaction import Outline
from devui.runtime.code_executors import BaseCodeExecutor
from devui.runtime.code_executors.code_execution_utils import CodeExecutionResult
from devui.runtime.code_executors.code_executor_context import CodeExecutorContext
from devui.runtime.events import Event, EventActions
from devui.runtime.events.compactions import CompactedEvents
from devui.runtime.events.event import NodeInfo
from devui.runtime.events.event_actions import EventCompaction
from devui.runtime.events.rewinds import live_events
from devui.runtime.flows.llm_flows._code_execution import DataFiles
from devui.runtime.flows.llm_flows._nl_planning import GrowingMap, common_length
from devui.runtime.flows.llm_flows.contents import InlineContents
from devui.runtime.flows.llm_flows.history import History
from devui.runtime.flows.llm_flows.visibility import View
from devui.runtime.models import LlmRequest, Rule, Say, ScriptedLlm
from devui.runtime.planners import PlanReActPlanner
from devui.runtime.runners import Runner
from devui.runtime.sessions import Session
from devui.runtime.sessions.latest_sessions import LatestSessions
from tests.kit.conversation import Conversation, call_part, outline, response_part

# Incremental maps

LISTS = st.lists(st.integers(0, 2), max_size=6)


@given(LISTS, LISTS)
def test_common_length_counts_the_equal_members_at_the_beginning(one, other):
    pairs = [a == b for a, b in zip(one, other, strict=False)]
    assert common_length(one, other) == (pairs.index(False) if False in pairs else len(pairs))


@given(st.lists(st.tuples(LISTS, st.sampled_from("ab")), max_size=6))
def test_a_growing_map_equals_one_built_at_once(lists):
    growing = GrowingMap()
    for given_list, argument in lists:
        mapped = growing(lambda member, more: f"{member}{more}", given_list, argument)
        assert mapped == [f"{member}{argument}" for member in given_list]
        mapped.append("of the caller's own")
        given_list.append(9)


def test_a_growing_map_computes_only_new_members():
    calls = []
    growing = GrowingMap()
    members = [types.Content(role="user", parts=[types.Part(text=str(n))]) for n in range(100)]
    growing(calls.append, members)
    calls.clear()

    growing(calls.append, [*members, members[0]])
    growing(calls.append, [*members, members[1]])

    assert [each.parts[0].text for each in calls] == ["0", "1"]


# The conversation around a single-turn agent

PATHS = st.sampled_from(["", "root@1", "root@1/one@1", "root@1/one@1/tool@1", "root@1/two@1"])
BRANCHES = st.sampled_from([None, "one", "one@1", "one@2", "one@2.below", "root.one", "two@3"])


def _event(path, branch, what, author):
    part = {
        "words": types.Part(text="words"),
        "call": call_part("f", "adk-1"),
        "response": response_part("f", "adk-1"),
    }[what]
    role = "user" if author == "user" or what == "response" else "model"
    content = types.Content(role=role, parts=[part])
    return Event(author=author, branch=branch, node_info=NodeInfo(path=path), content=content)


EVENTS = st.builds(
    _event,
    PATHS,
    BRANCHES,
    st.sampled_from(["words", "call", "response"]),
    st.sampled_from(["user", "one", "root"]),
)
RUNS = st.tuples(BRANCHES, st.lists(st.tuples(EVENTS, st.booleans()), max_size=4))
"""A run's branch, and its new events, each with a flag that marks the run's own."""


def _around(events, own, branch):
    line = [e for e in events if is_in_line(e.node_info.path, "root@1/one@1")]
    others = [e for e in line if not any(e is each for each in own)]
    return outline(History(View("one", branch)).contents(others))


@given(st.lists(RUNS, max_size=5), st.data())
def test_the_conversation_around_an_agent_equals_one_built_at_once(runs, data):
    growing = InlineContents(View("one"), "root@1/one@1")
    events, former = [], []
    for branch, added in runs:
        events = list(events)  # each turn has its own list
        # A run that continues has events from before the latest run.
        own = (
            list(data.draw(st.sampled_from(former))) if former and data.draw(st.booleans()) else []
        )
        for event, is_own in added:
            events.append(event)
            if is_own:
                own.append(event)
            assert outline(growing.contents(events, own, branch)) == _around(events, own, branch)
        former.append(own)


@given(st.lists(st.tuples(BRANCHES, st.lists(EVENTS, max_size=3)), max_size=5))
def test_a_history_seen_from_another_branch_equals_one_built_there(steps):
    growing, events = History(View("one")), []
    for branch, added in steps:
        events += added
        growing.look_from(branch)
        expected = outline(History(View("one", branch)).contents(events))
        assert outline(growing.contents(events)) == expected


def _any_event(kinds, author, invocation, *, later):
    """Return an event of text, calls and responses in any order, with ids that others share."""
    makes = {"call": call_part, "response": response_part}
    parts = [makes[kind](f"f{call_id}", call_id) for kind, call_id in kinds]
    calls = [call_id for kind, call_id in kinds if kind == "call"]
    role = "user" if len(calls) < len(kinds) else "model"
    return Event(
        author=author,
        invocation_id=invocation,
        content=types.Content(role=role, parts=parts or [types.Part(text="words")]),
        long_running_tool_ids=set(calls) if later and calls else None,
    )


KINDS = st.lists(
    st.tuples(st.sampled_from(["call", "response"]), st.sampled_from("abc")), max_size=2
)
ANY_EVENT = st.builds(
    _any_event,
    KINDS,
    st.sampled_from(["user", "one", "one", "two"]),
    st.sampled_from("12"),
    later=st.booleans(),
)


CALL, ANSWER = ("call", "a"), ("response", "a")


@given(st.lists(st.lists(ANY_EVENT, max_size=3), max_size=5))
@example(
    [
        [_any_event([ANSWER], "user", "1", later=False)],
        [_any_event([CALL], "one", "1", later=False)],
        [_any_event([CALL, ANSWER], "one", "1", later=False)],
    ]
)
def test_a_history_of_arbitrary_calls_equals_one_built_at_once(batches):
    growing, events = History(View("one")), []
    for batch in batches:
        events = [*events, *batch]
        assert outline(growing.contents(events)) == outline(History(View("one")).contents(events))


# Summaries

TIMES = st.integers(0, 9)


def _summary(times, said_at):
    content = types.Content(role="model", parts=[types.Part(text=f"<{times}>")])
    compaction = EventCompaction(
        start_timestamp=min(times), end_timestamp=max(times), compacted_content=content
    )
    return Event(author="user", timestamp=said_at, actions=EventActions(compaction=compaction))


def _event_of(words, ids, time, *, answers):
    part = response_part if answers else call_part
    parts = [part("f", f"adk-{i}") for i in ids] or [types.Part(text=words)]
    content = types.Content(role="user" if answers else "model", parts=parts)
    return Event(author="one", timestamp=time, content=content)


IDS = st.lists(st.integers(1, 3), max_size=2, unique=True)
SPOKEN = st.builds(_event_of, st.sampled_from("abc"), IDS, TIMES, answers=st.booleans())
SUMMARIES = st.builds(_summary, st.tuples(TIMES, TIMES), TIMES)
SUMMED_UP = st.one_of(SPOKEN, SUMMARIES)


def _lines(events):
    return [(e.timestamp, e.author, outline([e.content])) for e in events]


@given(st.lists(SUMMED_UP, max_size=8), st.lists(SUMMED_UP, max_size=8))
def test_summaries_added_later_stand_where_they_would_at_once(first, more):
    growing = CompactedEvents(first, "one")
    for number, event in enumerate(more, 1):
        growing.append(event)
        expected = CompactedEvents([*first, *more[:number]], "one").events()
        assert _lines(growing.events()) == _lines(expected)


STEPS = st.one_of(
    st.just(("words", [])),
    st.tuples(st.just("call"), st.lists(st.none(), min_size=1, max_size=2)),
    st.tuples(st.just("answer"), st.lists(st.integers(1, 4), min_size=1, max_size=2, unique=True)),
    st.tuples(st.just("summary"), st.lists(st.integers(1, 7), min_size=2, max_size=2)),
    st.tuples(st.just("rewind"), st.lists(st.integers(1, 4), min_size=1, max_size=1)),
    st.tuples(st.just("rewind"), st.lists(st.integers(1, 4), min_size=1, max_size=1)),
)


def _conversation(steps):
    """Return events that answer earlier calls, or summarize or rewind earlier events."""
    events, calls = [], 0
    for time, (what, which) in enumerate(steps):
        ids, event = [calls - back for back in which if back and back <= calls], None
        if what == "words":
            event = _event_of("a", [], time, answers=False)
        if what == "call":
            event = _event_of("", range(calls, calls + len(which)), time, answers=False)
            calls += len(which)
        if what == "answer" and ids:
            event = _event_of("", ids, time, answers=True)
        if what == "summary":
            event = _summary([max(0, time - back) for back in which], time)
        if what == "rewind":
            actions = EventActions(rewind_before_invocation_id=str(time // 2 - which[0]))
            event = Event(author="user", timestamp=time, actions=actions)
        if event is not None:
            events.append(event.model_copy(update={"invocation_id": str(time // 2)}))
    return events


CONVERSATIONS = st.lists(STEPS, max_size=18).map(_conversation)
REQUESTS = st.sets(st.integers(1, 18))
"""The numbers of events after which a request is built."""


@given(CONVERSATIONS, REQUESTS)
def test_a_history_with_summaries_and_rewinds_equals_one_built_at_once(events, requests):
    growing = History(View("one"))
    for number in sorted(requests):
        expected = outline(_at_once(events[:number]))
        assert outline(growing.contents(events[:number])) == expected


def _at_once(events):
    """Return the contents of the live events, built by a new history."""
    return History(View("one")).contents(list(live_events(events)))


def _outlined(event, invocation, scope, tokens, rewound):
    actions = event.actions.model_copy(update={"rewind_before_invocation_id": rewound})
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=tokens)
    return event.model_copy(
        update={
            "invocation_id": invocation,
            "isolation_scope": scope,
            "usage_metadata": usage if tokens is not None else None,
            "actions": actions,
        }
    )


OUTLINED = st.builds(
    _outlined,
    SUMMED_UP,
    st.sampled_from("abcd"),
    st.sampled_from([None, None, "task"]),
    st.sampled_from([None, None, 5, 8]),
    st.sampled_from([None] * 9 + ["b"]),
)


def _snapshot(outline):
    return (
        list(map(id, outline.events)),
        [outline.prompt_tokens(agent) for agent in (None, "one", "user")],
        outline.size(),
        list(map(id, outline.new_invocations(2, 1))),
        _lines(outline.compacted().events()),
        outline.compacted().latest,
    )


@given(st.lists(st.lists(OUTLINED, max_size=4), max_size=5), st.sampled_from([None, "task"]))
def test_the_outline_of_a_growing_session_equals_one_built_at_once(batches, scope):
    growing, events = Outline(scope), []
    for batch in batches:
        events = [*events, *batch]
        assert _snapshot(growing.among(events)) == _snapshot(Outline(scope).among(events))


# Planners and code executors

THOUGHT = types.Part(text="I think", thought=True)
WORDS = types.Part(text="I say")
FILE = types.Part(inline_data=types.Blob(data=b"a,b\n1,2\n", mime_type="text/csv"))
CODE = types.Part(executable_code=types.ExecutableCode(code="x", language="PYTHON"))
RESULT = types.Part(code_execution_result=types.CodeExecutionResult(outcome="OUTCOME_OK"))
PARTS = st.sampled_from([THOUGHT, WORDS, FILE, CODE, RESULT])
CONTENTS = st.builds(
    types.Content, role=st.sampled_from(["user", "model"]), parts=st.lists(PARTS, max_size=2)
)


@given(st.lists(st.lists(CONTENTS, max_size=3), max_size=4), st.booleans())
def test_data_files_in_growing_requests_are_found_as_in_each_alone(batches, ends):
    growing, contents = DataFiles(), []
    state, other_state = {}, {}
    last = [types.Content(role="user", parts=[FILE])] if ends else []
    for batch in batches:
        contents = [*contents, *batch]
        given_both = [LlmRequest(contents=[*contents, *last]) for _ in range(2)]
        ours = growing.set_aside(given_both[0], CodeExecutorContext(state))
        reference = DataFiles().set_aside(given_both[1], CodeExecutorContext(other_state))
        assert ours == reference
        assert given_both[0].contents == given_both[1].contents


class Silent(BaseCodeExecutor):
    """A code executor that runs nothing."""

    optimize_data_file: bool = True

    def execute_code(self, invocation_context, code_execution_input):
        return CodeExecutionResult(stdout="ran")


class Recording(ScriptedLlm):
    """A model that records its requests."""

    async def generate_content_async(self, llm_request, stream=False):
        model_requests.append([each.model_dump(exclude_none=True) for each in llm_request.contents])
        async for response in super().generate_content_async(llm_request, stream):
            yield response


model_requests: list[object] = []


def planner():
    plan = "/*PLANNING*/ I count. ```tool_code\nprint(1)\n``` /*FINAL_ANSWER*/ One."
    return LlmAgent(
        name="root",
        model=Recording(rules=[Rule(user="plan", then=Say(plan)), Rule(then=Say("Yes."))]),
        planner=PlanReActPlanner(),
        code_executor=Silent(error_retry_attempts=2),
    )


async def test_a_planner_with_code_sends_the_same_requests_from_a_new_flow():
    requests = []
    for begins_anew in (False, True):
        model_requests.clear()
        conversation = Conversation(planner())
        for words in ("plan", "hello", "plan", "goodbye"):
            await conversation.say(words)
            if begins_anew:
                service = conversation.runner.session_service
                conversation.runner = Runner(
                    app_name="app", agent=planner(), session_service=service
                )
        requests.append([*model_requests])
    assert len(requests[0]) >= 4
    assert requests[0] == requests[1]


# Alternating sessions


def _session(number):
    return Session(id=str(number), app_name="app", user_id="u")


class Holding(list):
    """A cached value; its size is its length."""


def test_values_of_many_small_sessions_are_cached():
    latest = LatestSessions()
    holdings = [latest.of(_session(n), "x", Holding) for n in range(60)]
    assert all(latest.of(_session(n), "x", Holding) is holdings[n] for n in range(60))
    assert latest.of(_session(0), "y", Holding) is not holdings[0]


def test_only_the_latest_large_sessions_are_cached():
    latest = LatestSessions()
    for number in [*range(4)] * 2:  # a value's size is determined at its next access
        holding = latest.of(_session(number), "x", Holding)
        if not holding:
            holding.extend(range(40_000))
    is_cached = [bool(latest.of(_session(number), "x", Holding)) for number in (3, 2, 0)]
    assert is_cached == [True, True, False]


def test_a_single_session_is_cached_however_large_it_is():
    latest = LatestSessions()
    large = latest.of(_session(1), "x", Holding)
    large.extend(range(1_000_000))
    assert latest.of(_session(1), "x", Holding) is large
