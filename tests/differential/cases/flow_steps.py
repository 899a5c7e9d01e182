"""Steps that agent authors add to an agent's flow."""

from tests.differential.case import case
from tests.differential.script import call


class Adding:
    """A step in the form in which agent authors write it."""

    def __init__(self, name, text, event=None):
        self.name, self.text, self.event = name, text, event

    async def run_async(self, invocation_context, llm_request):
        llm_request.append_instructions([self.text])
        if self.event is not None:
            yield self.event(invocation_context)


async def _play(stage, change, flow=None):
    flow = flow or stage.ns.SingleFlow()
    change(flow)

    class Own(stage.ns.LlmAgent):
        @property
        def _llm_flow(self):
            return flow

    stage.words.update({"agent", "mine", "yours"})
    model = stage.model("Hello.", label="agent")
    await stage.open(Own(name="agent", model=model, instruction="Be kind."))
    await stage.say()


@case()
async def a_step_is_put_after_another(stage):
    await _play(
        stage, lambda flow: flow.insert_request_processor_after("identity", Adding("own", "mine"))
    )


@case()
async def a_step_is_put_before_another(stage):
    await _play(
        stage,
        lambda flow: flow.insert_request_processor_before("instructions", Adding("own", "mine")),
    )


@case()
async def a_step_is_put_in_the_place_of_another(stage):
    await _play(
        stage, lambda flow: flow.replace_request_processor("identity", Adding("identity", "mine"))
    )


@case()
async def a_step_is_left_out(stage):
    await _play(stage, lambda flow: flow.remove_request_processor("instructions"))


@case()
async def a_step_says_something(stage):
    def event(ctx):
        return stage.ns.event("agent", "yours", invocation_id=ctx.invocation_id)

    await _play(
        stage,
        lambda flow: flow.insert_request_processor_after("contents", Adding("own", "mine", event)),
    )


@case()
async def steps_that_cannot_be_put_in(stage):
    flow = stage.ns.SingleFlow()
    for name, step in (("nothing", Adding("own", "")), ("basic", Adding("contents", ""))):
        try:
            flow.insert_request_processor_after(name, step)
        except ValueError:
            stage.note("refused", name)
    stage.note("found", flow.get_request_processor("contents").name)


@case()
async def a_flow_with_steps_of_ones_own_alone(stage):
    def look() -> str:
        """Looks."""
        return "ok"

    class Asking(stage.ns.BaseLlmRequestProcessor):
        async def run_async(self, invocation_context, llm_request):
            agent = invocation_context.agent
            llm_request.model = "own"
            llm_request.contents = [invocation_context.user_content]
            llm_request.append_instructions(
                [f"Case: {agent.name} has {len(llm_request.tools_dict)}"]
            )
            return
            yield

    class Noting(stage.ns.BaseLlmResponseProcessor):
        async def run_async(self, invocation_context, llm_response):
            stage.note("answer", bool(llm_response.content.parts[0].text))
            yield stage.ns.event("agent", "noted", invocation_id=invocation_context.invocation_id)

    class Flow(stage.ns.BaseLlmFlow):
        def __init__(self):
            super().__init__()
            self.request_processors += [Asking()]
            self.response_processors.append(Noting())

    stage.note("none", list(stage.ns.BaseLlmFlow().request_processors))
    stage.note("found", Flow().get_request_processor("agent_tools").name)
    flow = Flow()

    class Own(stage.ns.LlmAgent):
        @property
        def _llm_flow(self):
            return flow

    model = stage.model(call("look"), "Done.", label="agent")
    agent = Own(name="agent", model=model, instruction="Case: never said", tools=[look])
    await stage.open(agent)
    await stage.say()


def _watched(stage, name):
    """Return an override of a flow's method that notes its calls and what it yields."""

    async def method(self, *args):
        stage.note("begin", name, *(type(each).__name__ for each in args))
        async for each in getattr(super(type(self), self), name)(*args):
            stage.note("yield", name, type(each).__name__, bool(each.partial))
            yield each
        stage.note("end", name)

    return method


@case()
async def a_flow_with_methods_of_ones_own(stage):
    def look() -> str:
        """Looks."""
        return "ok"

    names = (
        "_run_one_step_async",
        "_preprocess_async",
        "_call_llm_async",
        "_postprocess_async",
        "_postprocess_handle_function_calls_async",
    )
    methods = {name: _watched(stage, name) for name in names}
    flow = type("Flow", (stage.ns.SingleFlow,), methods)()

    class Own(stage.ns.LlmAgent):
        @property
        def _llm_flow(self):
            return flow

    model = stage.model(call("look"), "Done.", label="agent")
    await stage.open(Own(name="agent", model=model, instruction="Case: look", tools=[look]))
    await stage.say()


@case()
async def steps_in_a_list(stage):
    flow = stage.ns.SingleFlow()
    own = Adding("own", "mine")
    flow.request_processors.append(own)
    flow.request_processors.insert(1, Adding("second", "yours"))
    flow.request_processors += [Adding("last", "last")]
    stage.note("own", flow.get_request_processor("own") is own, own in flow.request_processors)
    stage.note("ends", flow.request_processors[1].name, flow.request_processors[-1].name)
    stage.note("removed", flow.remove_request_processor("last").name)
    await _play(stage, lambda _: None, flow)


@case()
async def an_agent_chooses_its_model_for_each_call(stage):
    models = {name: stage.model(f"{name} says.", label=name) for name in ("one", "two")}

    class Choosing(stage.ns.LlmAgent):
        async def canonical_model_async(self, ctx):
            stage.note("asked", ctx.agent_name, type(ctx).__name__)
            return models[ctx.state["which"]]

    agent = Choosing(name="agent", model=models["one"])
    await stage.open(agent, state={"which": "two"})
    await stage.say()
    plain = stage.ns.LlmAgent(name="plain", model=models["one"])
    stage.note("plain", await plain.canonical_model_async(None) is models["one"])


@case()
async def functions_of_flows(stage):
    ns = stage.ns

    def look() -> str:
        """Looks."""
        return "ok"

    async def wait() -> None:
        """Waits."""

    tools = {"look": ns.FunctionTool(look), "wait": ns.LongRunningFunctionTool(wait)}

    async def body(ctx):
        calls = [ns.types.FunctionCall(id=name, name=name, args={}) for name in (*tools, "other")]
        parts = [ns.types.Part(function_call=each) for each in calls]
        question = ns.Event(author="agent", content=ns.types.Content(role="model", parts=parts))
        stage.note("long", sorted(ns.get_long_running_function_calls(calls, tools)))
        yield question
        response = await ns.handle_function_calls_async(ctx, question, tools, {"look"})
        yield response
        _search(stage, question, ctx.session.events)

    class Own(ns.LlmAgent):
        async def _run_async_impl(self, ctx):
            async for event in body(ctx):
                yield event

    await stage.open(Own(name="agent", model=stage.model("never")))
    await stage.say()


def _search(stage, question, events):
    ns = stage.ns
    for name in ("look", "nothing"):
        match = ns.find_event_by_function_call_id(events, name)
        stage.note(name, match is not None and match.id == question.id)
    match = ns.find_matching_function_call(events)
    stage.note("matching", match is not None and match.id == question.id)
    stage.note(ns.find_matching_function_call([]), ns.find_matching_function_call(events, question))
    call_id = ns.generate_client_function_call_id()
    stage.note(call_id.startswith(ns.AF_FUNCTION_CALL_ID_PREFIX), ns.AF_FUNCTION_CALL_ID_PREFIX)
