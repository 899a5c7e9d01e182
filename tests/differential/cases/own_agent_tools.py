"""Authors' own tools that run an agent, with the classes that google-adk's AgentTool uses."""

from contextlib import aclosing

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import case
from tests.differential.script import call


class City(BaseModel):
    """What the second agent answers."""

    name: str


def telling(ns):
    """Return an AgentTool class that runs its agent itself and counts the events in the state."""

    class Telling(ns.AgentTool):
        async def run_async(self, *, args, tool_context):
            ctx = tool_context._invocation_context
            runner = ns.Runner(
                app_name=ctx.app_name,
                agent=self.agent,
                artifact_service=ns.ForwardingArtifactService(tool_context),
                session_service=ns.InMemorySessionService(),
                plugins=ctx.plugin_manager.plugins,
            )
            session = await runner.session_service.create_session(
                app_name=ctx.app_name, user_id=ctx.user_id, state=tool_context.state.to_dict()
            )
            message = types.UserContent(args["request"])
            last = None
            run = runner.run_async(
                user_id=session.user_id, session_id=session.id, new_message=message
            )
            async with aclosing(run) as events:
                async for event in events:
                    tool_context.state.update(event.actions.state_delta)
                    tool_context.state["seen"] = tool_context.state.get("seen", 0) + 1
                    last = event.content or last
            text = "\n".join(filter(None, map(ns._part_to_text, last.parts)))
            schema = ns._get_output_schema(self.agent)
            return ns.validate_schema(schema, text) if schema else text

    return Telling


@case()
async def an_agent_tool_of_ones_own_plays_its_agent(stage):
    async def keep(text: str, tool_context: stage.ns.ToolContext) -> list:
        """Keeps a text as a file, and another one for a moment."""
        service = tool_context._invocation_context.artifact_service
        place = {"app_name": "any", "user_id": "any", "session_id": "any"}
        part = types.Part(text=text)
        versions = [await tool_context.save_artifact("a.txt", part) for _ in range(2)]
        await service.save_artifact(**place, filename="b.txt", artifact=part)
        await service.delete_artifact(**place, filename="b.txt")
        numbers = await service.list_versions(**place, filename="a.txt")
        records = await service.list_artifact_versions(**place, filename="a.txt")
        newest = await service.get_artifact_version(**place, filename="a.txt")
        names = await tool_context.list_artifacts()
        artifact = await tool_context.load_artifact("a.txt", 0)
        return [versions, numbers, len(records), newest.version, names, artifact.text]

    kind = telling(stage.ns)
    keeper = stage.agent("keeper", call("keep", text="tea"), "Kept.", tools=[keep])
    knower = stage.agent("knower", '{"name": "Rome"}', output_schema=City, output_key="city")
    calls = call("keeper", request="Keep tea."), call("knower", request="Which city?")
    agent = stage.agent("agent", *calls, "Done.", tools=[kind(keeper), kind(knower)])
    artifacts = stage.ns.InMemoryArtifactService()
    await stage.open(agent, services={"artifact_service": artifacts})
    await stage.say()
    for part in (
        types.Part(text="a"),
        types.Part.from_executable_code(code="1 + 1", language="PYTHON"),
        types.Part.from_code_execution_result(outcome="OUTCOME_OK", output="2\n"),
        types.Part.from_function_call(name="f", args={}),
    ):
        stage.note(stage.ns._part_to_text(part))
