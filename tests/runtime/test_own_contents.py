"""User code that takes contents out of a request gets copies, and nothing else is copied.

Source: "copy only when a callback changes them" (adk-runtime 7.3).
"""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from pydantic import Field

from devui.runtime.agents import LlmAgent
from devui.runtime.models import BaseLlm, LlmRequest, LlmResponse
from devui.runtime.models.llm_request import OwnContents, own_contents
from devui.runtime.planners import BasePlanner
from devui.runtime.plugins import BasePlugin, ContextFilterPlugin
from devui.runtime.runners import InMemoryRunner
from devui.runtime.sessions import Session
from devui.runtime.tools import BaseTool, BaseToolset
from tests.kit.rounds import rounds


def user_content(text: str) -> types.Content:
    return types.UserContent(text)


def texts(contents: list[types.Content]) -> list[str | None]:
    """Return the texts in a list without taking anything out of it."""
    return [content.parts[0].text for content in list.__getitem__(contents, slice(None))]


PLACES = st.integers(-7, 7)
NUMBERS = st.none() | PLACES
SLICES = st.builds(slice, NUMBERS, NUMBERS, st.sampled_from([None, 1, 2, -1, -2]))
NEW = st.lists(st.sampled_from("xyz"), max_size=3)
STEPS = st.one_of(
    st.tuples(st.just("get"), PLACES | SLICES),
    st.tuples(st.just("set"), PLACES, st.sampled_from("xyz")),
    st.tuples(st.just("set"), SLICES, NEW),
    st.tuples(st.just("delete"), PLACES | SLICES),
    st.tuples(st.just("insert"), PLACES, st.sampled_from("xyz")),
    st.tuples(st.just("pop"), PLACES),
    st.tuples(st.just("append"), st.sampled_from("xyz")),
    st.tuples(st.just("extend"), NEW),
    st.tuples(st.just("add in place"), NEW),
    st.tuples(st.just("times in place"), st.integers(-1, 2)),
    st.tuples(st.just("remove"), st.integers(0, 6)),
    st.tuples(st.sampled_from(["clear", "reverse", "sort", "list", "backwards", "pop last"])),
)


def put(contents: list[types.Content], place: int | slice, new: Any) -> None:
    contents[place] = new


def word(content: types.Content) -> Any:
    return content.parts[0].text


DOES: dict[str, Callable[..., Any]] = {
    "get": lambda own, at: texts(own[at]) if isinstance(at, slice) else word(own[at]),
    "set": put,
    "delete": lambda own, at: own.__delitem__(at),
    "insert": lambda own, at, new: own.insert(at, new),
    "pop": lambda own, at: word(own.pop(at)),
    "pop last": lambda own: word(own.pop()),
    "append": lambda own, new: own.append(new),
    "extend": lambda own, new: own.extend(new),
    "add in place": lambda own, new: own.__iadd__(new) is own,
    "times in place": lambda own, times: own.__imul__(times) is own,
    "remove": lambda own, at: own.remove(own[at]),
    "clear": lambda own: own.clear(),
    "reverse": lambda own: own.reverse(),
    "sort": lambda own: own.sort(key=word, reverse=True),
    "list": lambda own: [word(content) for content in own],
    "backwards": lambda own: [word(content) for content in reversed(own)],
}


def apply(contents: list[types.Content], step: tuple[Any, ...], pool: dict[str, Any]) -> Any:
    """Do a step, and return its result as texts."""
    what, *arguments = step
    names = [pool[g] if isinstance(g, str) else g for g in arguments]
    return DOES[what](
        contents, *([pool[n] for n in g] if isinstance(g, list) else g for g in names)
    )


def outcome(contents: list[types.Content], step: tuple[Any, ...], pool: dict[str, Any]) -> Any:
    try:
        return apply(contents, step, pool)
    except (IndexError, ValueError) as error:
        return type(error)


@drawn(st.integers(0, 6), st.lists(STEPS, max_size=8))
@settings(max_examples=rounds(100, 300))
def test_own_contents_behave_like_a_list(size, steps):
    others = [user_content(str(number)) for number in range(size)]
    pool = {name: user_content(name) for name in "xyz"}
    plain, own = list(others), OwnContents(others)
    for step in steps:
        assert outcome(own, step, pool) == outcome(plain, step, pool), step
        assert texts(own) == texts(plain)
    for number, content in enumerate(own):
        assert content is own[number], "it is copied once"
        assert content not in pool.values() or content is pool[content.parts[0].text], "put in"
        content.parts.append(types.Part(text="mine"))
    assert texts(others) == [str(number) for number in range(size)]
    assert all(len(content.parts) == 1 for content in others)


WAYS = {
    "one": lambda own: [own[0], own[-1]],
    "a slice": lambda own: own[:],
    "a loop": lambda own: [content for content in own],  # noqa: C416  tests a loop
    "backwards": lambda own: [*reversed(own)],
    "unpacked": lambda own: [*own],
    "a tuple": tuple,
    "sorted": lambda own: sorted(own, key=lambda content: content.role),
    "copied": lambda own: own.copy(),
    "by the module": copy.copy,
    "deeply": copy.deepcopy,
    "pickled": lambda own: pickle.loads(pickle.dumps(own)),
    "added to others": lambda own: [user_content("x"), *[]] + own,  # noqa: RUF005  tests `+`
    "others added": lambda own: own + [user_content("x")],  # noqa: RUF005
    "times two": lambda own: own * 2,
    "two times": lambda own: 2 * own,
    "extended": lambda own: [user_content("x")].__iadd__(own),
    "filtered": lambda own: list(filter(None, own)),
    "with others": lambda own: [each for each, _ in zip(own, "ab", strict=True)],
    "another request": lambda own: LlmRequest(contents=own).contents,
    "a request's copy": lambda own: (
        LlmRequest.blank().model_copy(update={"contents": own}).contents
    ),
    "its deep copy": lambda own: copied_request(own).model_copy(deep=True).contents,
    "popped": lambda own: [own.pop(), own.pop(0)],
}


def copied_request(own: list[types.Content]) -> LlmRequest:
    request = LlmRequest.blank()
    request.contents = own
    return request


@pytest.mark.parametrize("way", WAYS)
def test_contents_taken_out_in_any_way_are_copies(way):
    others = [user_content("one"), user_content("two")]
    for content in WAYS[way](OwnContents(others)):
        content.parts[0].text = "changed"
    assert texts(others) == ["one", "two"]


def test_non_contents_and_added_contents_are_not_copied():
    odd, new = object(), user_content("new")
    own = OwnContents([odd])
    own.append(new)
    own[:0] = [new]
    assert own[1] is odd
    assert own[0] is new is own[2]


def test_arguments_and_responses_are_copied_too():
    call = types.Part.from_function_call(name="look", args={"deep": [{"at": 1}]})
    answer = types.Part.from_function_response(name="look", response={"deep": [1]})
    others = [types.ModelContent([call]), types.UserContent([answer])]
    own = OwnContents(others)
    own[0].parts[0].function_call.args["deep"][0]["at"] = 2
    own[1].parts[0].function_response.response["deep"].append(2)
    assert call.function_call.args == {"deep": [{"at": 1}]}
    assert answer.function_response.response == {"deep": [1]}


def test_a_list_assigned_by_user_code_is_kept():
    request, mine = LlmRequest(contents=[user_content("one")]), [user_content("mine")]
    with own_contents(request, by="test"):
        request.contents = mine
    assert request.contents is mine


# In a run: the model's contents show what was copied.


class Told(BaseLlm):
    """A model that keeps the contents of its latest request."""

    model: str = "told"
    contents: list[types.Content] = Field(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):
        self.contents = list(llm_request.contents)
        yield LlmResponse(content=types.ModelContent("Yes."))


async def three_turns(agent: LlmAgent, plugins: tuple[BasePlugin, ...] = ()) -> Session:
    """Return the session after three turns with the agent."""
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=list(plugins))
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    for text in ("one", "two", "three"):
        async for _ in runner.run_async(
            user_id="u", session_id=session.id, new_message=user_content(text)
        ):
            pass
    result = await runner.session_service.get_session(
        app_name="app", user_id="u", session_id=session.id
    )
    assert result is not None
    return result


def copies_in(model: Told, session: Session) -> list[bool]:
    """Return for each content of the latest request whether it is a copy of an event's."""
    events = {id(event.content) for event in session.events}
    return [id(content) not in events for content in model.contents]


def reads_the_last(callback_context, llm_request):
    assert llm_request.contents[-1].parts[0].text


def counts(callback_context, llm_request):
    assert len(llm_request.contents) > 0
    llm_request.config.temperature = 0.5


def drops_the_first(callback_context, llm_request):
    llm_request.contents = llm_request.contents[-2:]


def deletes(callback_context, llm_request):
    del llm_request.contents[:-2]
    llm_request.contents.append(user_content("added"))


@pytest.mark.parametrize(
    ("callback", "copies"),
    [
        (counts, [False] * 5),
        (reads_the_last, [False] * 4 + [True]),
        (drops_the_first, [True] * 2),
        (deletes, [False] * 2 + [True]),
    ],
)
async def test_only_what_a_callback_takes_out_is_copied(callback, copies):
    model = Told()
    session = await three_turns(LlmAgent(name="a", model=model, before_model_callback=callback))
    assert copies_in(model, session) == copies


async def test_a_plugin_that_shortens_requests_copies_only_what_it_keeps():
    model = Told()
    session = await three_turns(LlmAgent(name="a", model=model), (ContextFilterPlugin(2),))
    assert copies_in(model, session) == [True] * 3


class Preparing(BaseTool):
    """A tool that extends the user's message in the request."""

    async def process_llm_request(self, *, tool_context, llm_request):
        llm_request.contents[-1].parts.append(types.Part(text="Be brief."))


class PreparingSet(BaseToolset):
    """The same, as a toolset."""

    async def get_tools(self, readonly_context=None):
        return []

    async def process_llm_request(self, *, tool_context, llm_request):
        llm_request.contents[-1].parts.append(types.Part(text="Be brief."))


class Planning(BasePlanner):
    """The same, as a planner."""

    def build_planning_instruction(self, readonly_context, llm_request):
        llm_request.contents[-1].parts.append(types.Part(text="Be brief."))

    def process_planning_response(self, callback_context, response_parts):
        return None


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [Preparing(name="p", description="")]},
        {"tools": [PreparingSet()]},
        {"planner": Planning()},
    ],
)
async def test_tools_and_planners_change_the_request_but_not_the_history(fields):
    model = Told()
    session = await three_turns(LlmAgent(name="a", model=model, **fields))
    assert copies_in(model, session) == [False] * 4 + [True]
    assert [part.text for part in model.contents[-1].parts] == ["three", "Be brief."]
    assert all(len(event.content.parts) == 1 for event in session.events)
