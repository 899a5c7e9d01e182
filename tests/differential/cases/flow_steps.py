"""Steps that agents' authors put into the flow of an agent."""

from tests.differential.case import case


class Adding:
    """A step as authors write it."""

    def __init__(self, name, text, event=None):
        self.name, self.text, self.event = name, text, event

    async def run_async(self, invocation_context, llm_request):
        llm_request.append_instructions([self.text])
        if self.event is not None:
            yield self.event(invocation_context)


async def _play(stage, change):
    flow = stage.ns.SingleFlow()
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
