"""Authors' own classes that override or call members of google-adk's, private ones included."""

import warnings
from functools import partial

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.cases.lite_llm_requests import noting
from tests.differential.cases.mcp_servers import parameters
from tests.differential.script import call, transfer
from tests.kit.a2a import card_of


def documents(ns):
    """Return a service class that stores sessions as documents; subclasses store events."""

    class Documents(ns.BaseSessionService):
        def __init__(self):
            self.kept = {}

        async def create_session(self, *, app_name, user_id, state=None, session_id=None):
            session = ns.Session(
                id=session_id or "made", app_name=app_name, user_id=user_id, state=state or {}
            )
            self.keep(session)
            return session

        async def get_session(self, *, app_name, user_id, session_id, config=None):
            document = self.kept.get(session_id)
            return ns.Session.model_validate(document) if document else None

        async def list_sessions(self, *, app_name, user_id=None):
            sessions = [ns.Session.model_validate(document) for document in self.kept.values()]
            return ns.ListSessionsResponse(sessions=sessions)

        async def delete_session(self, *, app_name, user_id, session_id):
            self.kept.pop(session_id, None)

        def keep(self, session):
            self.kept[session.id] = session.model_dump(mode="json")

    return Documents


def by_itself(ns):
    """Return a service that calls the steps of its base class one by one."""

    class Stepping(documents(ns)):
        async def append_event(self, session, event):
            if event.partial:
                return event
            event = self._trim_temp_delta_state(event)
            self._update_session_state(session, event)
            session.events.append(event)
            self.keep(session)
            return event

    return Stepping()


def ahead(ns):
    """Return a service that applies `temp:` keys to the session before it trims the event."""

    class Ahead(documents(ns)):
        async def append_event(self, session, event):
            if not event.partial:
                self._apply_temp_state(session, event)
                event = self._trim_temp_delta_state(event)
            event = await super().append_event(session, event)
            self.keep(session)
            return event

    return Ahead()


def altering(ns):
    """Return an in-memory service that stores more of a delta and less of the state."""

    class Altering(ns.InMemorySessionService):
        def _trim_temp_delta_state(self, event):
            super()._trim_temp_delta_state(event)
            if event.actions.state_delta:
                event.actions.state_delta["trimmed"] = True
            return event

        def _update_session_state(self, session, event):
            public = {k: v for k, v in event.actions.state_delta.items() if k != "secret"}
            session.state.update(public)

    return Altering()


async def _states(stage, make_service):
    def write(callback_context):
        callback_context.state["temp:mood"] = "good"
        callback_context.state["kept"] = {"list": [1]}
        callback_context.state["secret"] = "word"

    def look(callback_context):
        stage.note("seen", sorted(callback_context.state.to_dict()))

    agent = stage.agent(
        "agent", "Hi.", before_agent_callback=write, after_agent_callback=look, output_key="temp:it"
    )
    await stage.open(agent, services={"session_service": make_service(stage.ns)})
    await stage.say()


for _name, _made in (
    ("takes the steps by itself", by_itself),
    ("goes ahead of the base class", ahead),
    ("alters the steps", altering),
):
    add(Case(f"a session service {_name}", partial(_states, make_service=_made)))


class Place(BaseModel):
    """What a store keeps as JSON."""

    name: str = "Rome"


@case()
async def a_session_service_puts_state_into_json(stage):
    state = {"app:a": Place(), "user:b": {1, 2}, "c": b"bytes", "temp:d": Place()}
    stage.note(stage.ns.make_json_safe_state(state))
    stage.note(stage.ns.extract_json_safe_state_delta(state))
    stage.note(stage.ns.make_json_safe_state({"it": len}))
    for data in (None, "null", 3, [], {"name": "Oslo"}):
        read = stage.ns.decode_model(data, Place)
        stage.note(read and read.model_dump())


def brief(ns):
    """Return an agent class that sends only the last part of the message."""

    class Brief(ns.RemoteA2aAgent):
        def _construct_message_parts_from_session(self, ctx):
            parts, context_id = super()._construct_message_parts_from_session(ctx)
            return parts[-1:], context_id

    return Brief


def silent(ns):
    """Return an agent class that has nothing to send."""

    class Silent(ns.RemoteA2aAgent):
        def _construct_message_parts_from_session(self, ctx):
            return [], None

    return Silent


async def _sent(stage, make_agent, says):
    await stage.open(make_agent(stage.ns)("helper", card_of("stream")))
    secret = types.Part(text="My password is 1234.")
    for words in says:
        await stage.say([secret, types.Part(text=words)])


for _name, _made, _says in (
    ("sends a brief", brief, ["echo", "echo"]),
    ("sends a brief that is asked back", brief, ["ask", "blue", "echo"]),
    ("sends nothing", silent, ["echo"]),
):
    _play = partial(_sent, make_agent=_made, says=_says)
    add(Case(f"an agent of another server {_name}", _play, needs="a2a"))


@case(needs="a2a")
async def an_agent_of_another_server_gets_its_token_late(stage):
    class Authorised(stage.ns.RemoteA2aAgent):
        async def _ensure_httpx_client(self):
            client = await super()._ensure_httpx_client()
            client.headers["Authorization"] = "Bearer sesame"
            return client

    await stage.open(Authorised("helper", card_of("secret")))
    await stage.say("greet")
    await stage.say("greet")


def hiding(ns):
    """Return a tool class that fills in a parameter and hides it from the model."""

    class Hiding(ns.FunctionTool):
        def __init__(self, func):
            super().__init__(func)
            self._ignore_params.append("currency")

        async def run_async(self, *, args, tool_context):
            own_args = args if "keep" in args.values() else {**args, "currency": "EUR"}
            return await super().run_async(args=own_args, tool_context=tool_context)

    return Hiding


def price(item: str, currency: str, shop: str = "any") -> str:
    """Tells a price."""
    return f"{item} in {shop}: 3 {currency}"


async def unpriced(currency: str, input_stream: str = "") -> str:
    """Tells no price."""
    return currency


@case()
async def a_tool_hides_a_parameter(stage):
    tools = [hiding(stage.ns)(price), hiding(stage.ns)(unpriced)]
    stage.note([tool._get_mandatory_args() for tool in tools])
    agent = stage.agent(
        "agent", call("price", item="tea"), call("price"), call("unpriced"), "Done.", tools=tools
    )
    await stage.open(agent)
    await stage.say()


@case()
async def a_tool_hides_a_parameter_late(stage):
    tool = stage.ns.FunctionTool(price)
    stage.note(sorted(tool._get_declaration().parameters_json_schema["properties"]))
    tool._ignore_params.append("shop")
    stage.note(sorted(tool._get_declaration().parameters_json_schema["properties"]))


@case()
async def a_tool_asks_for_other_arguments(stage):
    class Choosy(stage.ns.FunctionTool):
        def _get_mandatory_args(self):
            return [*super()._get_mandatory_args(), "shop"]

    agent = stage.agent(
        "agent", call("price", item="tea", currency="EUR"), "Done.", tools=[Choosy(price)]
    )
    await stage.open(agent)
    await stage.say()


@case()
async def a_planner_has_words_of_its_own(stage):
    class Worded(stage.ns.PlanReActPlanner):
        def _build_nl_planner_instruction(self):
            return "Case: plan, then act."

    agent = stage.agent("agent", "/*PLANNING*/ So. /*FINAL_ANSWER*/ Done.", planner=Worded())
    await stage.open(agent)
    await stage.say()


@case(needs="litellm")
async def a_model_of_litellm_changes_what_goes_with_every_call(stage):
    class Tagging(stage.ns.LiteLlm):
        async def generate_content_async(self, llm_request, stream=False):
            stage.note(dict(self._additional_args))
            self._additional_args["metadata"] = {"agent": "mine"}
            self._additional_args.pop("seed")
            async for response in super().generate_content_async(llm_request, stream):
                yield response

    client = noting(stage)
    model = Tagging(model="openai/test", temperature=0.5, seed=3, llm_client=client, stream=True)
    await stage.open(stage.agent(model=model))
    await stage.say()


def moded(ns):
    """Return an author's own agent class with mode `single_turn`."""

    class Moded(ns.BaseAgent):
        mode: str = "single_turn"
        said: tuple[str, ...] = ("Hello.",)

        async def _run_async_impl(self, ctx):
            question = ctx.user_content.parts[0].text
            for text in self.said:
                yield ns.event(
                    self.name,
                    f"{text} {question}",
                    invocation_id=ctx.invocation_id,
                    branch=ctx.branch,
                )

    return Moded


async def _called(stage, **fields):
    stage.words.add("greeter")
    greeter = moded(stage.ns)(name="greeter", description="Greets.", **fields)
    agent = stage.agent("agent", call("greeter", request="Ann"), "Done.", sub_agents=[greeter])
    await stage.open(agent)
    await stage.say()
    await stage.say("more")


@case()
async def an_agent_of_ones_own_that_answers_once_gives_an_output(stage):
    class Counting(moded(stage.ns)):
        async def _run_async_impl(self, ctx):
            async for event in super()._run_async_impl(ctx):
                event.output = {"words": 2}
                yield event

    stage.words.add("greeter")
    agent = stage.agent(
        "agent", call("greeter", request="Ann"), "Done.", sub_agents=[Counting(name="greeter")]
    )
    await stage.open(agent)
    await stage.say()


for _name, _said in (("says", ("Hello.",)), ("says much", ("Hello.", "Bye.")), ("is silent", ())):
    add(Case(f"an agent of one's own that answers once {_name}", partial(_called, said=_said)))


@case()
async def an_agent_of_ones_own_that_talks_is_handed_over_to(stage):
    await _called(stage, mode="chat")


@case()
async def an_agent_of_ones_own_that_answers_once_comes_late(stage):
    stage.words.add("greeter")
    agent = stage.agent("agent", "Hi.", "Done.")
    await stage.open(agent)
    await stage.say()
    agent.sub_agents.append(late := moded(stage.ns)(name="greeter"))
    late.parent_agent = agent
    await stage.say()


@case()
async def an_agent_with_a_model_that_answers_once_comes_late(stage):
    stage.words.update({"late", "other"})
    agent = stage.agent("agent", "Hi.", sub_agents=[stage.agent("other")])
    await stage.open(agent)
    agent.sub_agents.append(late := stage.agent("late", mode="single_turn"))
    late.parent_agent = agent
    await stage.say()


async def _team(stage, runner):
    team = stage.agent(
        "chief",
        transfer("helper"),
        "It is me.",
        sub_agents=[stage.agent("helper", "Helped.", "Again.")],
    )
    await stage.open(team)
    service = stage.runner.session_service
    stage.runner = runner(app_name="app", agent=team, session_service=service)
    await stage.say()
    await stage.say("more")


@case()
async def a_runner_chooses_who_goes_on(stage):
    class Choosing(stage.ns.Runner):
        def _find_agent_to_run(self, session, root_agent):
            stage.note(super()._find_agent_to_run(session, root_agent).name)
            return root_agent

    await _team(stage, Choosing)


@case()
async def a_runner_makes_the_contexts(stage):
    class Making(stage.ns.Runner):
        def _new_invocation_context(self, session, **how):
            stage.note(sorted(how))
            context = super()._new_invocation_context(session, **how)
            context.credential_by_key["mine"] = None
            return context.model_copy(update={"end_invocation": len(session.events) > 4})

    await _team(stage, Making)


@case()
async def a_runner_is_asked_for_a_context(stage):
    await stage.open(stage.agent("agent", "Hi."))
    await stage.say()
    where = {"app_name": "app", "user_id": "u", "session_id": "s"}
    session = await stage.runner.session_service.get_session(**where)
    message = stage.ns.content("More.", role="user")
    context = stage.runner._new_invocation_context(session=session, new_message=message)
    stage.note(context.agent.name, context.user_content.parts[0].text, context.invocation_id)
    stage.note(stage.runner._find_agent_to_run(session, stage.runner.agent).name)
    kind = type(context)
    fields = {"session", "agent", "branch", "invocation_id", "user_content", "run_config"}
    stage.note(sorted(fields & set(kind.model_fields)))
    stage.note(context.model_dump(include={"branch", "end_invocation"}))
    dumped = context.model_dump(include={"session"}, exclude={"agent"})
    stage.note(dumped["session"]["id"], dumped["session"]["user_id"])
    bare = stage.ns.InvocationContext.model_construct(invocation_id="i", session=session)
    stage.note(bare.invocation_id, bare.branch, bare.app_name)


NAMES = """gemini-2.5-flash gemini-1.5-pro gemini-1 gemini-10.1 gemini-2 gemini-3-pro-preview gemini
gemini- gemini-flash-latest gemini-flash-early-exp gemini-early-exp3 gemini-2x-pro gemini-3.5-live
gemini-3.5-live-translate-1 models/gemini-2.0-flash openrouter/google/gemini-2.5-pro:online gpt-4o
openai/gpt-4o apigee/gemini-2.5-flash apigee/vertex_ai/v1/gemini-1.5-pro gemini/gemini-2.5-flash
projects/p/locations/l/publishers/google/models/gemini-2.5-pro projects/p/gemini-2.5-pro Gemini-2.5
apigee/openai/gpt-4o projects/p/locations/l/publishers/x/models/claude-4 claude-gemini-2 1/2"""


@case()
async def models_are_told_by_their_names(stage):
    for name in NAMES.split():
        stage.note(name, stage.ns.extract_model_name(name))
    asks = (
        stage.ns.is_gemini_model,
        stage.ns.is_gemini_1_model,
        stage.ns.is_gemini_eap_or_2_or_above,
        stage.ns.is_gemini_3_5_live_translate,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        stage.note([[ask(name) for name in (*NAMES.split(), "", None)] for ask in asks])
    stage.note(stage.ns.is_gemini_model_id_check_disabled())


def skill(stage, name):
    """Return a skill that states its name."""
    head = stage.ns.Frontmatter(name=name, description="Helps.")
    return stage.ns.Skill(frontmatter=head, instructions=f"This is {name}.")


async def _found(stage, **how):
    shelf = [skill(stage, "one")]

    class Shelf(stage.ns.SkillToolset):
        def _list_skills(self):
            return list(shelf)

        def _get_skill(self, skill_name):
            return next((each for each in shelf if each.name == skill_name), None)

    tools = [Shelf(**how)]
    answers = [call("list_skills"), call("load_skill", skill_name="two"), "No.", "Yes."]
    if how:
        del answers[0]
    answers[-1:-1] = [call("load_skill", skill_name="two")]
    await stage.open(stage.agent("agent", *answers, tools=tools))
    await stage.say()
    stage.note([each.name for each in tools[0].skills])
    shelf.append(skill(stage, "two"))
    await stage.say("again")


@case()
async def a_toolset_finds_its_skills_each_time(stage):
    await _found(stage)


@case()
async def a_toolset_finds_its_skills_for_the_instruction(stage):
    await _found(stage, discovery_mode=stage.ns.SkillDiscoveryMode.EAGER)


@case(needs="mcp")
async def a_tool_of_an_mcp_server_is_run_in_another_way(stage):
    class Rounding(stage.ns.McpToolset):
        async def get_tools(self, readonly_context=None):
            tools = await super().get_tools(readonly_context)
            for tool in tools:
                tool._run_async_impl = partial(rounded, tool._run_async_impl)
            return tools

    async def rounded(run, *, args, tool_context, credential):
        if args["a"] < 0:
            raise ConnectionError("Not below zero.")
        stage.note(args, credential, tool_context.agent_name)
        result = await run(args={**args, "b": 0}, tool_context=tool_context, credential=credential)
        return {"rounded": result["content"]}

    answers = [call("add", a=7, b=2), call("add", a=-7, b=2), "Done."]
    tools = Rounding(connection_params=parameters(stage))
    await stage.open(stage.agent("agent", *answers, tools=[tools]))
    await stage.say()
    await stage.runner.close()


class Trip(BaseModel):
    """An answer with a part that may be missing."""

    days: int
    to: Place | None = None


@case()
async def the_schemas_of_agents_are_asked_for(stage):
    one = stage.agent("one", input_schema=Place, output_schema=Trip)
    two = stage.agent("two", input_schema=Trip, output_schema=list[Trip])
    line = stage.ns.SequentialAgent(name="line", sub_agents=[one, two])
    for agent in (one, line, stage.speaker("three"), stage.agent("four")):
        schemas = stage.ns._get_input_schema(agent), stage.ns._get_output_schema(agent)
        stage.note(agent.name, [str(each) for each in schemas])


@case()
async def answers_are_checked_against_schemas(stage):
    for schema, text in (
        (Trip, '{"days": "3", "to": null}'),
        (Trip, '```json\n{"days": 3, "to": {}}\n```'),
        (list[Trip], '[{"days": 1}]'),
        (list[int], "[1, 2]"),
        ({"type": "object"}, '{"a": 1}'),
        (Trip, '{"days": "many"}'),
        (Trip, "no JSON"),
    ):
        try:
            stage.note(stage.ns.validate_schema(schema, text))
        except ValueError:
            stage.note("refused", text)


async def _loads(stage, cached):
    ns = stage.ns

    def look() -> str:
        """Looks."""
        return "seen"

    class Growing(ns.BaseToolset):
        def __init__(self):
            super().__init__(tool_name_prefix="my")
            self._use_invocation_cache = cached

        async def get_tools(self, readonly_context=None):
            is_loaded = readonly_context.state.get("loaded") if readonly_context else False
            return [ns.FunctionTool(load), *([ns.FunctionTool(look)] if is_loaded else [])]

    def load(tool_context) -> str:
        """Loads a tool."""
        tool_context.state["loaded"] = True
        return "loaded"

    answers = call("my_load"), call("my_look"), "Done.", "Next."
    await stage.open(stage.agent("agent", *answers, tools=[Growing()]))
    await stage.say()
    await stage.say("next")


add(Case("a toolset is asked at every step", partial(_loads, cached=False)))


# Authors' own fields, with names that a runtime might use


@case()
async def an_agent_has_fields_of_its_own(stage):
    class Kept(stage.ns.BaseAgent):
        delegates: tuple[str, ...] = ("a",)
        described: str = "b"
        is_delegated: bool = True
        targets: tuple[str, ...] = ("c",)
        task_agents: tuple[stage.ns.BaseAgent, ...] = ()
        transfer_targets: tuple[str, ...] = ("d",)

        async def _run_async_impl(self, ctx):
            for agent in self.task_agents:
                async for event in agent.run_async(ctx):
                    yield event
            stage.note(self.transfer_targets, self.is_delegated, self.described, self.delegates)

    part = stage.agent("part", "Done.")
    await stage.open(Kept(name="kept", task_agents=(part,), sub_agents=[part]))
    await stage.say()


@case()
async def an_agent_with_a_model_has_fields_of_its_own(stage):
    class Kept(stage.ns.LlmAgent):
        delegates: tuple[str, ...] = ("a",)
        described: str = "b"
        is_delegated: bool = True
        task_agents: tuple[str, ...] = ("c",)
        transfer_targets: tuple[str, ...] = ("d",)

    def look(callback_context):
        agent = callback_context._invocation_context.agent
        stage.note(agent.delegates, agent.described, agent.is_delegated)
        stage.note(agent.task_agents, agent.transfer_targets)

    below = stage.agent("below", "Here.")
    kept = Kept(
        name="kept",
        model=stage.model(transfer("below")),
        sub_agents=[below],
        before_agent_callback=look,
    )
    stage.words.add("kept")
    await stage.open(kept)
    await stage.say()
