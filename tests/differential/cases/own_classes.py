"""Classes of one's own that override or call what google-adk's have, underscores included."""

from functools import partial

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.cases.lite_llm_requests import noting
from tests.differential.script import call
from tests.kit.a2a import card_of


def documents(ns):
    """Sessions kept as documents: what an event leaves behind is up to `append_event`."""

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
            kept = self.kept.get(session_id)
            return ns.Session.model_validate(kept) if kept else None

        async def list_sessions(self, *, app_name, user_id=None):
            sessions = [ns.Session.model_validate(kept) for kept in self.kept.values()]
            return ns.ListSessionsResponse(sessions=sessions)

        async def delete_session(self, *, app_name, user_id, session_id):
            self.kept.pop(session_id, None)

        def keep(self, session):
            self.kept[session.id] = session.model_dump(mode="json")

    return Documents


def by_itself(ns):
    """A store that takes the steps of the base class one by one."""

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
    """A store that lets the session know of `temp:` keys before it trims the event itself."""

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
    """Sessions in memory that keep more of a delta, and less of the state."""

    class Altering(ns.InMemorySessionService):
        def _trim_temp_delta_state(self, event):
            super()._trim_temp_delta_state(event)
            if event.actions.state_delta:
                event.actions.state_delta["trimmed"] = True
            return event

        def _update_session_state(self, session, event):
            kept = {k: v for k, v in event.actions.state_delta.items() if k != "secret"}
            session.state.update(kept)

    return Altering()


async def _states(stage, made):
    def write(callback_context):
        callback_context.state["temp:mood"] = "good"
        callback_context.state["kept"] = {"list": [1]}
        callback_context.state["secret"] = "word"

    def look(callback_context):
        stage.note("seen", sorted(callback_context.state.to_dict()))

    agent = stage.agent(
        "agent", "Hi.", before_agent_callback=write, after_agent_callback=look, output_key="temp:it"
    )
    await stage.open(agent, services={"session_service": made(stage.ns)})
    await stage.say()


for _name, _made in (
    ("takes the steps by itself", by_itself),
    ("goes ahead of the base class", ahead),
    ("alters the steps", altering),
):
    add(Case(f"a session service {_name}", partial(_states, made=_made)))


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
    """An agent that sends the last thing that was said, and nothing before it."""

    class Brief(ns.RemoteA2aAgent):
        def _construct_message_parts_from_session(self, ctx):
            parts, context_id = super()._construct_message_parts_from_session(ctx)
            return parts[-1:], context_id

    return Brief


def silent(ns):
    """An agent that has nothing to send."""

    class Silent(ns.RemoteA2aAgent):
        def _construct_message_parts_from_session(self, ctx):
            return [], None

    return Silent


async def _sent(stage, made, says):
    await stage.open(made(stage.ns)("helper", card_of("stream")))
    secret = types.Part(text="My password is 1234.")
    for words in says:
        await stage.say([secret, types.Part(text=words)])


for _name, _made, _says in (
    ("sends a brief", brief, ["echo", "echo"]),
    ("sends a brief that is asked back", brief, ["ask", "blue", "echo"]),
    ("sends nothing", silent, ["echo"]),
):
    _play = partial(_sent, made=_made, says=_says)
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
    """A tool that fills a parameter of its function, and hides it from the model."""

    class Hiding(ns.FunctionTool):
        def __init__(self, func):
            super().__init__(func)
            self._ignore_params.append("currency")

        async def run_async(self, *, args, tool_context):
            filled = args if "keep" in args.values() else {**args, "currency": "EUR"}
            return await super().run_async(args=filled, tool_context=tool_context)

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
    """An agent of one's own that says that it answers once."""

    class Moded(ns.BaseAgent):
        mode: str = "single_turn"
        said: tuple[str, ...] = ("Hello.",)

        async def _run_async_impl(self, ctx):
            asked = ctx.user_content.parts[0].text
            for text in self.said:
                yield ns.event(
                    self.name,
                    f"{text} {asked}",
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
