"""Authors' own agents and nodes that change what happens before and after their work."""

from google.genai import types

from tests.differential.case import case


@case()
async def an_agent_answers_around_its_work_by_itself(stage):
    def told(ctx, words):
        content = types.ModelContent(words)
        return stage.ns.Event(author="polite", invocation_id=ctx.invocation_id, content=content)

    class Polite(stage.ns.BaseAgent):
        async def _handle_before_agent_callback(self, ctx):
            return told(ctx, "Hello.")

        async def _run_async_impl(self, ctx):
            yield told(ctx, "Here.")

        async def _handle_after_agent_callback(self, invocation_context):
            return told(invocation_context, "Goodbye.")

    await stage.open(Polite(name="polite"))
    await stage.say()


@case()
async def an_agent_with_a_model_takes_no_callbacks_while_it_is_busy(stage):
    class Busy(stage.ns.LlmAgent):
        async def _handle_before_agent_callback(self, ctx):
            if ctx.session.state.get("busy"):
                return None
            return await super()._handle_before_agent_callback(ctx)

    def greet(callback_context):
        callback_context.state["busy"] = True
        return types.ModelContent("Just a moment.")

    stage.words.add("busy")
    busy = Busy(name="busy", model=stage.model("Done."), before_agent_callback=greet)
    await stage.open(busy)
    await stage.say()
    await stage.say()


@case()
async def a_node_makes_its_data_fit_in_its_own_way(stage):
    class Doubling(stage.ns.BaseNode):
        def _validate_input_data(self, data):
            return 2

        def _validate_output_data(self, data):
            return data * 2

        async def _run_impl(self, *, ctx, node_input):
            yield node_input + 1

    node = Doubling(name="doubling")
    await stage.open(stage.ns.Workflow(name="wf", edges=[("START", node)]))
    await stage.say()
