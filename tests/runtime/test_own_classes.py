"""User classes: overrides of google-adk's methods with an underscore take effect.

Their results are compared with google-adk in tests/differential/cases/own_classes.py.
"""

import pytest
from google.genai import types
from pydantic import PrivateAttr

from devui.runtime import Workflow
from devui.runtime.agents import BaseAgent, InvocationContext, LlmAgent
from devui.runtime.apps import App
from devui.runtime.artifacts import InMemoryArtifactService
from devui.runtime.events import Event, EventActions
from devui.runtime.memory import SqliteMemoryService
from devui.runtime.models import Gemini, LlmRequest
from devui.runtime.models.lite_llm import LiteLlm
from devui.runtime.models.openai_llm import OpenAILlm
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.planners import PlanReActPlanner
from devui.runtime.plugins import (
    ContextFilterPlugin,
    DebugLoggingPlugin,
    LoggingPlugin,
    ReflectAndRetryToolPlugin,
    SaveFilesAsArtifactsPlugin,
)
from devui.runtime.plugins.tool_call_integrity_plugin import ToolCallIntegrityPlugin
from devui.runtime.runners import InMemoryRunner, Runner
from devui.runtime.sessions import InMemorySessionService, Session, SqliteSessionService
from devui.runtime.skills import Frontmatter, Skill
from devui.runtime.tools import AgentTool, BaseToolset, FunctionTool
from devui.runtime.tools.base_authenticated_tool import AuthenticatedFunctionTool
from devui.runtime.tools.mcp_tool import McpTool, McpToolset
from devui.runtime.tools.openapi_tool import RestApiTool
from devui.runtime.tools.skill_toolset import SkillToolset
from devui.runtime.workflow import START, Node


def written(**delta) -> Event:
    return Event(author="agent", actions=EventActions(state_delta=delta))


class Keeping(InMemorySessionService):
    """A session service that keeps temporary state in the history."""

    def _trim_temp_delta_state(self, event: Event) -> Event:
        return event


async def test_a_session_service_may_trim_events_differently():
    service = Keeping()
    session = await service.create_session(app_name="app", user_id="u")
    await service.append_event(session, written(**{"temp:mood": "good"}))
    assert session.events[-1].actions.state_delta == {"temp:mood": "good"}


@pytest.mark.parametrize("kind", [InMemorySessionService, SqliteSessionService])
async def test_a_session_service_sees_each_event_committed_to_a_session_object(kind):
    class Hearing(kind):
        def _commit_event_to_session(self, session: Session, event: Event) -> Event:
            deltas.append(event.actions.state_delta)
            return super()._commit_event_to_session(session, event)

    deltas: list[dict] = []
    service = Hearing(":memory:") if kind is SqliteSessionService else Hearing()
    session = await service.create_session(app_name="app", user_id="u")
    for delta in ({}, {"temp:mood": "good", "kept": 1}):
        await service.append_event(session, written(**delta))
    assert deltas == [{}, {"kept": 1}]


@pytest.mark.parametrize("service", [InMemorySessionService(), SqliteSessionService(":memory:")])
async def test_changing_a_manually_applied_state_does_not_change_the_event(service):
    session = Session(id="s", app_name="app", user_id="u")
    event = written(plan=["look"])
    service._update_session_state(session, event)
    session.state["plan"].append("tell")
    assert event.actions.state_delta == {"plan": ["look"]}


def price(item: str, currency: str) -> str:
    """Tells a price."""
    return f"{item}: 3 {currency}"


def declared_parameters(tool: FunctionTool) -> list[str]:
    return list(tool._get_declaration().parameters_json_schema["properties"])


def test_ignored_parameters_are_not_declared_even_if_added_later():
    tool = FunctionTool(price)
    assert (declared_parameters(tool), tool._get_mandatory_args()) == (["item", "currency"],) * 2
    tool._ignore_params.append("currency")
    assert (declared_parameters(tool), tool._get_mandatory_args()) == (["item"],) * 2


def test_the_credential_parameter_of_a_tool_is_ignored():
    def look(place: str, credential: object) -> str:
        """Looks."""
        return place

    tool = AuthenticatedFunctionTool(func=look)
    assert (declared_parameters(tool), tool._get_mandatory_args()) == (["place"],) * 2


def test_a_planner_may_override_its_instruction():
    class Worded(PlanReActPlanner):
        def _build_nl_planner_instruction(self) -> str:
            return "Plan, then act."

    assert Worded().build_planning_instruction(None, None) == "Plan, then act."


class Counter(BaseAgent):
    """Counts the words of the user."""

    mode: str = "single_turn"

    async def _run_async_impl(self, ctx):
        words = ctx.user_content.parts[0].text.split()
        yield Event(author=self.name, branch=ctx.branch, output={"words": len(words)})


async def test_a_custom_single_turn_agent_is_a_tool_that_returns_its_output():
    model = ScriptedLlm(
        rules=[
            Rule(after="counter", then=Say("{result.words}.")),
            Rule(then=Call("counter", request="x")),
        ]
    )
    root = LlmAgent(name="root", model=model, sub_agents=[Counter(name="counter")])
    events = await InMemoryRunner(agent=root).run_debug("one two", quiet=True)
    assert events[-1].content.parts[0].text == "2."
    assert root.may_hand_over_to == []
    assert root.clone().sub_agents_as_tools[0].agent is not root.sub_agents[0]


def test_a_single_turn_agent_added_later_is_not_a_tool():
    root = LlmAgent(name="root")
    late = Counter(name="late")
    late.parent_agent = root
    root.sub_agents.append(late)
    assert (root.sub_agents_as_tools, root.may_hand_over_to) == ([], [])


class Diary(LlmAgent):
    """An agent whose private attributes have common names."""

    _events: list[str] = PrivateAttr(default_factory=list)
    _flow: str = PrivateAttr(default="slow")
    _output: dict[str, str] = PrivateAttr(default_factory=dict)
    _tool: str = PrivateAttr(default="pen")

    def _refuse(self, request):
        return f"{self._tool}, {self._flow}: no {request}."

    def _signed(self, words):
        self._output["words"] = words
        self._events.append(words)
        return types.ModelContent(words)


class Postbox(Node):
    """A node whose private methods have common names."""

    def _taken(self, letters):
        return [f"{letter}?" for letter in letters]

    def _given(self, letters):
        return {"given": letters}

    async def run_node_impl(self, *, ctx, node_input):
        yield self._given(self._taken(["a", "b"]))


async def test_an_agent_may_have_its_own_attributes_and_methods():
    def sign(callback_context):
        return diary._signed(diary._refuse("more"))

    model = ScriptedLlm(rules=[Rule(then=Say("Dear diary."))])
    diary = Diary(name="diary", model=model, after_agent_callback=sign)
    events = await InMemoryRunner(agent=diary).run_debug("go", quiet=True)
    texts = [event.content.parts[0].text for event in events]
    assert texts == ["Dear diary.", "pen, slow: no more."]
    assert (diary._events, diary._output) == (texts[1:], {"words": texts[1]})


async def test_a_node_may_have_its_own_methods():
    graph = Workflow(name="wf", edges=[(START, Postbox(name="postbox"))])
    events = await InMemoryRunner(node=graph).run_debug("go", quiet=True)
    assert [event.output for event in events if event.output] == [{"given": ["a?", "b?"]}]


async def test_google_adks_private_hooks_of_agents_and_nodes_take_effect():
    class Polite(BaseAgent):
        async def _handle_before_agent_callback(self, ctx):
            return Event(author=self.name, content=types.ModelContent("Hello."))

        async def _run_async_impl(self, ctx):
            yield Event(author=self.name, content=types.ModelContent("Here."))

        async def _handle_after_agent_callback(self, invocation_context):
            return Event(author=self.name, content=types.ModelContent("Goodbye."))

    class Doubling(Node):
        def _validate_input_data(self, data):
            return 2

        def _validate_output_data(self, data):
            return data * 2

        async def run_node_impl(self, *, ctx, node_input):
            yield node_input * 2

    events = await InMemoryRunner(agent=Polite(name="polite")).run_debug("go", quiet=True)
    assert [event.content.parts[0].text for event in events] == ["Hello.", "Here.", "Goodbye."]
    graph = Workflow(name="wf", edges=[(START, Doubling(name="doubling"))])
    events = await InMemoryRunner(node=graph).run_debug("go", quiet=True)
    assert [event.output for event in events if event.output] == [8]


async def test_a_runner_may_choose_the_agent_that_continues():
    class Rooted(InMemoryRunner):
        def _find_agent_to_run(self, session, root_agent):
            return root_agent

    helper = LlmAgent(name="helper", model=ScriptedLlm(rules=[Rule(then=Say("Helped."))]))
    model = ScriptedLlm(
        rules=[
            Rule(user="help", then=Call("transfer_to_agent", agent_name="helper")),
            Rule(then=Say("It is me.")),
        ]
    )
    runner = Rooted(agent=LlmAgent(name="root", model=model, sub_agents=[helper]))
    events = await runner.run_debug(["help", "more"], quiet=True)
    speakers = [event.author for event in events if event.is_final_response()]
    assert speakers == ["helper", "root"]


def test_an_invocation_context_has_the_interface_of_a_pydantic_model():
    session = Session(id="s", app_name="app", user_id="u")
    context = InvocationContext.model_construct(invocation_id="i", session=session, unknown=1)
    assert {"session", "agent", "branch"} <= set(InvocationContext.model_fields)
    assert not {"_shared", "custom_metadata"} & set(context.model_fields)
    assert context.session_service is None
    assert context.model_dump(include={"session", "branch"}, exclude={"branch"}) == {
        "session": session.model_dump()
    }


def test_a_request_has_a_live_config_that_is_not_serialized():
    one = LlmRequest.blank()
    assert one.live_connect_config == types.LiveConnectConfig()
    assert "live_connect_config" not in one.model_dump()


class Listing(BaseToolset):
    """A toolset with private methods whose names the runtime doesn't use."""

    def _get_tools(self, count: int) -> list[FunctionTool]:
        return [FunctionTool(written)] * count

    def _listed(self):
        raise NotImplementedError

    _prefixed = _listed

    async def get_tools(self, readonly_context=None):
        return self._get_tools(count=1)


class Sealed(FunctionTool):
    """A tool that signs its results."""

    def __init__(self, func):
        super().__init__(func)
        self._signature = "sealed"

    async def run_async(self, *, args, tool_context):
        return f"{await super().run_async(args=args, tool_context=tool_context)}, {self._signature}"


class Expert(AgentTool):
    """An agent tool that rewords its result."""

    def _result(self, text):
        return f"The expert says: {text}"

    async def run_async(self, *, args, tool_context):
        return self._result(await super().run_async(args=args, tool_context=tool_context))


async def test_tools_may_have_their_own_methods_and_attributes():
    expert = LlmAgent(name="expert", model=ScriptedLlm(rules=[Rule(then=Say("3 EUR."))]))
    calls = [Call("price", item="tea", currency="EUR"), Call("expert", request="tea")]
    model = ScriptedLlm(rules=[Rule(after="price", then=Say("Done.")), Rule(then=calls)])
    agent = LlmAgent(name="agent", model=model, tools=[Sealed(price), Expert(expert)])
    _, event, *_ = await InMemoryRunner(agent=agent).run_debug("go", quiet=True)
    results = [response.response["result"] for response in event.get_function_responses()]
    assert results == ["tea: 3 EUR, sealed", "The expert says: 3 EUR."]


async def test_a_toolset_may_have_its_own_methods():
    [tool] = await Listing().get_tools_with_prefix()
    assert tool.name == "written"


NAMES = (
    "access add answer begin body cache call client clients config data database db events failed"
    " failures file files filter handled headers history ids invocation key kept layout limit list"
    " lists log lock note options outlines path places prepare progress queue read received"
    " requests retries retry saved scan search send session sessions settings state store stored"
    " tell text ttl version workspace write"
)
"""Names that authors of subclasses are likely to choose, after an underscore."""
SKILL = Skill(frontmatter=Frontmatter(name="tea", description="Tea."), instructions="Boil.")


def named_by_its_author(kind):
    """Return a subclass that has its own attribute under each of those names."""
    own = {f"_{name}": "mine" for name in NAMES.split()}

    def begin(self, *args, **kwargs):
        kind.__init__(self, *args, **kwargs)
        for name in own:
            setattr(self, name, "mine")

    return type(f"My{kind.__name__}", (kind,), {**own, "__init__": begin})


@pytest.mark.parametrize("kind", [InMemorySessionService, SqliteSessionService])
async def test_a_runner_and_its_services_may_have_their_own_attributes(kind, tmp_path):
    names = [tmp_path / "sessions.db"] if kind is SqliteSessionService else []
    memory = named_by_its_author(SqliteMemoryService)(tmp_path / "memory.db")
    kinds = [
        LoggingPlugin,
        ContextFilterPlugin,
        DebugLoggingPlugin,
        ReflectAndRetryToolPlugin,
        SaveFilesAsArtifactsPlugin,
    ]
    where = {"output_path": str(tmp_path / "debug.yaml")}
    plugins = [
        named_by_its_author(each)(**(where if each is DebugLoggingPlugin else {})) for each in kinds
    ]
    toolset = named_by_its_author(SkillToolset)([SKILL])
    model = ScriptedLlm(
        rules=[Rule(after="list_skills", then=Say("Done.")), Rule(then=Call("list_skills"))]
    )
    runner = named_by_its_author(Runner)(
        app=App(
            name="app",
            root_agent=LlmAgent(name="agent", model=model, tools=[toolset]),
            plugins=plugins,
        ),
        session_service=named_by_its_author(kind)(*names),
        artifact_service=named_by_its_author(InMemoryArtifactService)(),
        memory_service=memory,
    )
    events = await runner.run_debug("go", quiet=True)
    session = await runner.session_service.get_session(
        app_name="app", user_id="debug_user_id", session_id="debug_session_id"
    )
    await memory.add_session_to_memory(session)
    response = await memory.search_memory(app_name="app", user_id="debug_user_id", query="done")
    await runner.close()
    await memory.close()
    assert [event.content.parts[0].text for event in events][-1] == "Done."
    assert [entry.content.parts[0].text for entry in response.memories] == ["Done."]


@pytest.mark.parametrize(
    "kind", [McpToolset, McpTool, RestApiTool, OpenAILlm, Gemini, LiteLlm, ToolCallIntegrityPlugin]
)
def test_a_class_has_no_private_name_that_its_subclasses_are_likely_to_use(kind):
    likely_names = {f"_{name}" for name in NAMES.split()}
    assert likely_names.isdisjoint(name for each in kind.__mro__ for name in vars(each))
