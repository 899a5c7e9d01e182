"""The sample `summary` with an answer that pauses, for tests that act in the middle of it."""

from pathlib import Path

from tests.kit.server import SAMPLES, write_app

SUMMARIZE = "Summarize the document about the runtime"
"""The message whose answer pauses: after two of its three points, until a test releases it."""
_WHOLE = "Rule(then=Say(SUMMARY, chunks=40, delay=0.075))"
_CUT = """Rule(then=[
        Say(SUMMARY[: SUMMARY.index("3.")], chunks=2, delay=1),
        Say(SUMMARY[SUMMARY.index("3.") :]),
    ])"""
_MODEL = "ScriptedLlm(model="
_WAITS = """
import asyncio
from pathlib import Path


class Waiting(ScriptedLlm):
    async def generate_content_async(self, llm_request, stream=False):
        async for answer in super().generate_content_async(llm_request, stream):
            while "3." in str(answer.content) and not Path(__file__).with_name("go").exists():
                await asyncio.sleep(0.02)
            yield answer


root_agent ="""


def write_lingering(agents: Path) -> Path:
    """Write the app, over the sample if that is there, and return the path of a file.

    The rest of its answers comes once that file exists.
    """
    code = (SAMPLES / "summary" / "agent.py").read_text(encoding="utf-8")
    for old, new in ((_WHOLE, _CUT), (_MODEL, "Waiting(model="), ("\nroot_agent =", _WAITS)):
        assert code.count(old) == 1
        code = code.replace(old, new)
    return write_app(agents, "summary", code).with_name("go")
