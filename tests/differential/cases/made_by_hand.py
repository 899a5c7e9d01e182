"""Agents, contexts, models and services created by code before a run, valid and invalid."""

import datetime as dt
import enum
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import case
from tests.differential.differing_made import (
    ARGUMENT_TYPES,
    BRACES,
    DUPLICATE_TOOLS,
    INTERACTIONS,
    NAMELESS_SESSIONS,
    NARROWER_NAMES,
    SWITCHES,
    TOOLS_OF_MODES,
    UNKNOWN_FIELDS,
)
from tests.differential.script import call


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set environment variables temporarily, and hide Google's own."""
    changed = {*variables, *(name for name in os.environ if name.startswith("GOOGLE_"))}
    before = {name: os.environ.pop(name, None) for name in changed}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def refused(make: Callable[[], Any]) -> str | None:
    """Return the name of the error's type, or None."""
    try:
        make()
    except Exception as error:  # noqa: BLE001  the type is compared
        return type(error).__name__
    return None


# Contexts


def _place(stage, context):
    stage.note(context.agent_name, context.node_path, context.run_id, context.attempt_count)


async def _places(stage, around):
    def look(tool_context) -> str:
        """Looks."""
        _place(stage, tool_context)
        return "ok"

    def before(callback_context):
        _place(stage, callback_context)

    agent = stage.agent("agent", call("look"), "Done.", tools=[look], before_agent_callback=before)
    await stage.open(around(agent))
    await stage.say()


@case()
async def places_of_an_agent_at_the_root(stage):
    await _places(stage, lambda agent: agent)


@case()
async def places_of_an_agent_in_a_sequence(stage):
    await _places(stage, lambda agent: stage.ns.SequentialAgent(name="all", sub_agents=[agent]))


@case()
async def an_output_is_set_twice_in_a_callback(stage):
    def twice(callback_context):
        stage.note([refused(partial(setattr, callback_context, "output", each)) for each in (1, 2)])

    await stage.open(stage.agent("agent", "Hello.", before_agent_callback=twice))
    await stage.say()


@case(differs=UNKNOWN_FIELDS)
async def a_context_is_made_without_a_session(stage):
    service = stage.ns.InMemorySessionService()
    make = stage.ns.InvocationContext
    stage.note(refused(lambda: make(session_service=service, invocation_id="e")))


# Agents


@case()
async def modes_of_agents_below_another(stage):
    inner, other = stage.agent("inner"), stage.agent("other", mode="single_turn")
    below = stage.ns.SequentialAgent(name="below", sub_agents=[stage.agent("deep")])
    stage.agent("root", sub_agents=[inner, other, below])
    agents = [inner, other, below.sub_agents[0], inner.clone()]
    stage.note([agent.mode for agent in agents])


@case(differs=TOOLS_OF_MODES)
async def tools_that_come_with_modes(stage):
    worker = stage.agent("worker", mode="task")
    root = stage.agent("root", sub_agents=[worker, stage.agent("expert", mode="single_turn")])
    for agent in (worker, root):
        stage.note([tool.name for tool in agent.tools])


@case()
async def tools_that_come_with_modes_are_offered(stage):
    worker = stage.agent("worker", mode="task")
    root = stage.agent("root", sub_agents=[worker, stage.agent("expert", mode="single_turn")])
    for agent in (worker, root):
        stage.note([tool.name for tool in await agent.canonical_tools()])


# Runs


@case()
async def the_environment_limits_the_calls_of_models(stage):
    for value in ("7", "", "many"):
        with environment(ADK_MAX_LLM_CALLS=value):
            stage.note(value, stage.ns.RunConfig().max_llm_calls)


class Size(enum.Enum):
    SMALL = "small"


class Room(BaseModel):
    floor: int


class Seat(BaseModel):
    row: int


async def _called_with_a_word(stage, **variables):
    def count(number: int) -> str:
        """Counts."""
        return f"{number!r}"

    await stage.open(stage.agent("agent", call("count", number="x"), "Done.", tools=[count]))
    with environment(**variables):
        await stage.say()


@case(differs=ARGUMENT_TYPES)
async def arguments_of_another_type_are_refused(stage):
    await _called_with_a_word(stage)


@case(differs=ARGUMENT_TYPES)
async def arguments_become_what_the_annotations_say(stage):
    def book(day: dt.date, size: Size, count: int, rooms: set[str]) -> str:
        """Books."""
        return " ".join(type(each).__name__ for each in (day, size, count, rooms))

    args = {"day": "2024-01-02", "size": "small", "count": "7", "rooms": ["a"]}
    await stage.open(stage.agent("agent", call("book", **args), "Done.", tools=[book]))
    await stage.say()


@case(differs=ARGUMENT_TYPES)
async def dicts_in_a_list_become_models_of_a_union(stage):
    def take(things: list[Room | Seat]) -> str:
        """Takes."""
        return " ".join(type(each).__name__ for each in things)

    args = {"things": [{"floor": 1}, {"row": 1}]}
    await stage.open(stage.agent("agent", call("take", **args), "Done.", tools=[take]))
    await stage.say()


@case(differs=DUPLICATE_TOOLS)
async def two_tools_have_one_name(stage):
    def tool(result: int) -> Callable[[], int]:
        def price() -> int:
            return result

        return price

    answers = (call("price"), "Done.")
    stage.note(refused(lambda: stage.agent("agent", *answers, tools=[tool(1), tool(2)])))


@case(differs=BRACES)
async def braces_of_an_instruction_are_kept(stage):
    text = "Write {lbrace}name} and {{city}}."
    await stage.open(stage.agent("agent", "Done.", instruction=text), state={"city": "Rome"})
    await stage.say()


@case(differs=SWITCHES)
async def the_environment_switches_a_feature_off(stage):
    await _called_with_a_word(stage, ADK_DISABLE_JSON_SCHEMA_FOR_FUNC_DECL="1")


# Models


@case()
async def gemini_says_what_it_can_without_a_key(stage):
    cloud = {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "l"}
    for variables in (
        {},
        {"GOOGLE_API_KEY": "k"},
        {"GOOGLE_GENAI_USE_VERTEXAI": "1", **cloud},
        {"GOOGLE_GENAI_USE_ENTERPRISE": "true", **cloud},
        {"GOOGLE_GENAI_USE_ENTERPRISE": "0", "GOOGLE_GENAI_USE_VERTEXAI": "1", **cloud},
    ):
        with environment(**variables):
            model = stage.ns.Gemini(model="gemini-2.5-flash")
            stage.note(sorted(variables), model.capabilities.output_schema_and_tools)


@case(differs=NARROWER_NAMES)
async def a_model_is_registered_for_a_name_of_gemini(stage):
    class Mine(stage.ns.BaseLlm):
        @classmethod
        def supported_models(cls):
            return ["gemini-mine"]

        async def generate_content_async(self, llm_request, stream=False):
            yield stage.ns.LlmResponse()

    stage.ns.LLMRegistry.register(Mine)
    stage.note(stage.ns.LLMRegistry.resolve("gemini-mine").__name__)


@case(differs=INTERACTIONS)
async def gemini_is_to_keep_the_conversation(stage):
    stage.note(refused(lambda: stage.ns.Gemini(use_interactions_api=True)))


@case(differs=INTERACTIONS)
async def the_steps_of_a_flow(stage):
    stage.note([step.name for step in stage.ns.SingleFlow().request_processors])


# Services


@case(differs=NAMELESS_SESSIONS)
async def a_session_without_a_name_is_kept_in_a_database(stage):
    async with stage.ns.DatabaseSessionService("sqlite+aiosqlite:///:memory:") as service:
        session = await service.create_session(app_name="app", user_id="u", session_id="")
        stage.note(bool(session.id))


@case()
async def a_database_without_a_name(stage):
    for url in (None, "", "nothing"):
        stage.note(refused(lambda url=url: stage.ns.DatabaseSessionService(url)))


async def _save(service, **where):
    file = {"app_name": "app", "user_id": "u", "session_id": "s", "filename": "f.txt"} | where
    try:
        return await service.save_artifact(**file, artifact=types.Part(text="t"))
    except Exception as error:  # noqa: BLE001  the type is compared
        return type(error).__name__


@case()
async def an_artifact_of_a_user_with_a_slash_is_saved(stage):
    service = stage.ns.InMemoryArtifactService()
    stage.note(await _save(service, user_id="people/ann"))


@case()
async def artifacts_of_ids_that_are_none_are_saved(stage):
    service = stage.ns.InMemoryArtifactService()
    for which in ("app_name", "user_id", "session_id"):
        for value in ("", "..", "a\0b"):
            stage.note(which, await _save(service, **{which: value}))


@case()
async def a_session_is_deleted_without_keywords(stage):
    async with stage.ns.DatabaseSessionService("sqlite+aiosqlite:///:memory:") as service:
        await service.create_session(app_name="app", user_id="u", session_id="s")
        await service.delete_session("app", "u", "s")
        stage.note(await service.get_session(app_name="app", user_id="u", session_id="s"))


# Histories


@case()
async def a_history_has_calls_of_the_runtime_itself(stage):
    await stage.open(stage.agent("agent", "Hello."))
    service = stage.runner.session_service
    session = await service.get_session(app_name="app", user_id="u", session_id="s")
    for name in ("adk_framework", "adk_request_credential", "adk_request_input", "other"):
        function_call = types.FunctionCall(id=f"id-{name}", name=name, args={})
        answer = types.FunctionResponse(id=function_call.id, name=name, response={"a": 1})
        for author, part in (
            ("agent", types.Part(function_call=function_call)),
            ("user", types.Part(function_response=answer)),
        ):
            content = types.Content(role="model" if author == "agent" else "user", parts=[part])
            event = stage.ns.Event(author=author, invocation_id="e-1", content=content)
            await service.append_event(session, event)
    await stage.say()
