"""Two agents that put each text of the corpus into every field that an agent can fill."""

import json
from pathlib import Path

from tests.browser.corpus import CORPUS
from tests.kit.server import write_app

GROUP = 8
"""How many texts share an event."""
KINDS = 6
"""How many committed events each group produces."""

_TELLER = """
import json, logging, pathlib
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions

CORPUS = json.loads(pathlib.Path(__file__).with_name("corpus.json").read_text())
GROUPS = [CORPUS[n:n + GROUP_SIZE] for n in range(0, len(CORPUS), GROUP_SIZE)]


def calls(texts):
    return [{"function_call": {"id": t, "name": t, "args": {t: [t, {t: t}]}}} for t in texts]


def responses(texts):
    return [{"function_response": {"id": t, "name": t, "response": {t: [t]}}} for t in texts]


def files(texts):
    for text in texts:
        yield {"executable_code": {"code": text, "language": "PYTHON"}}
        yield {"code_execution_result": {"output": text, "outcome": "OUTCOME_FAILED"}}
        yield {"inline_data": {"data": b"x", "mime_type": text, "display_name": text}}
        yield {"file_data": {"file_uri": text, "mime_type": text, "display_name": text}}


def questions(texts):
    every = "\\n".join(texts)
    yield "adk_request_confirmation", {
        "originalFunctionCall": {"id": every, "name": every, "args": {every: every}},
        "toolConfirmation": {"hint": every, "confirmed": False, "payload": {every: every}}}
    yield "adk_request_input", {"message": every, "response_schema": {
        "type": "object", "title": every, "required": texts[:2],
        "properties": {t: {"type": "string", "title": t, "description": t, "default": t}
                       for t in texts}}}
    yield "adk_request_input", {"message": every, "response_schema": {"enum": texts}}
    yield "get_user_choice", {"options": texts}
    yield "adk_request_credential", {"functionCallId": every, "authConfig": {
        "credentialKey": every, "authScheme": {"type": "apiKey", "in": "header", "name": every}}}
    yield "adk_request_credential", {"functionCallId": every, "authConfig": {
        "authScheme": {"type": "oauth2", "flows": {}},
        "exchangedAuthCredential": {"authType": "oauth2", "oauth2": {
            "authUri": "javascript:window.pwned=1", "state": every}}}}
    yield every, {every: every}


class Teller(BaseAgent):
    async def _run_async_impl(self, ctx):
        def event(parts=(), texts=("teller", ""), **more):
            content = types.Content(role="model", parts=[types.Part(**part) for part in parts])
            return Event(author=texts[0], branch=texts[1] or None, content=content,
                         invocation_id=ctx.invocation_id, **more)

        if ctx.user_content.parts[0].text == "ask":
            for number, texts in enumerate(GROUPS):
                name, args = list(questions(texts))[number % 7]
                call = {"id": f"q{number}", "name": name, "args": args}
                yield event([{"function_call": call}], long_running_tool_ids={f"q{number}"})
            return
        for number, texts in enumerate(GROUPS):
            for text in texts:
                print(text)
                logging.getLogger(text).warning("%s", text)
            for text in texts[:2]:
                yield event([{"text": text}], texts, partial=True)
            yield event([{"text": text} for text in texts], texts)
            yield event([{"text": text, "thought": True} for text in texts], texts)
            yield event(calls(texts), texts[2:])
            yield event(responses(texts), texts[3:])
            yield event(files(texts), texts[1:])
            saved, state = {}, {}
            for text, kind in zip(texts, ["text/html", "image/svg+xml", "text/plain"] * 3):
                data = types.Part(inline_data=types.Blob(data=text.encode(), mime_type=kind))
                saved[text] = await ctx.artifact_service.save_artifact(
                    app_name=ctx.app_name, user_id=ctx.user_id, session_id=ctx.session.id,
                    filename=text, artifact=data)
                state |= {text: {text: [text]}, "user:" + text: text, "app:" + text: [text]}
            yield event(texts=texts[4:], error_code=texts[0], error_message="\\n".join(texts),
                        actions=EventActions(state_delta=state, artifact_delta=saved))
        raise RuntimeError("\\n".join(CORPUS))


root_agent = Teller(name="teller", description="\\n".join(CORPUS))
"""

_CLERK = """
import json, pathlib
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

CORPUS = json.loads(pathlib.Path(__file__).with_name("corpus.json").read_text())
EVERY = "\\n\\n".join(CORPUS)


def work(what: dict) -> dict:
    return {text: {"told": text} for text in what}


work.__doc__ = EVERY

root_agent = Agent(
    name="clerk",
    description=EVERY,
    instruction=lambda ctx: EVERY,
    model=ScriptedLlm(rules=[
        Rule(after="work", then=Say("Done.")),
        Rule(then=Call("work", what={text: [text] for text in CORPUS})),
    ]),
    tools=[work],
)
"""


def write(agents: Path) -> None:
    """Write both agents: `teller` emits the texts itself, `clerk` through a model and a tool."""
    text = json.dumps(CORPUS)
    for name, code in (("teller", _TELLER), ("clerk", _CLERK)):
        file = write_app(agents, name, code.replace("GROUP_SIZE", str(GROUP)))
        file.with_name("corpus.json").write_text(text, encoding="utf-8")
