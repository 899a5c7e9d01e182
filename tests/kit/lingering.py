"""The sample `summary` with an answer that never ends, for tests that cut it off."""

from pathlib import Path

from tests.kit.server import SAMPLES, write_app

SUMMARISE = "Summarise the document about the runtime"
"""What it is asked: two of its three points come, a second apart, and then nothing more."""
_WHOLE = "Rule(then=Say(SUMMARY, chunks=40, delay=0.075))"
_CUT = """Rule(then=[
        Say(SUMMARY[: SUMMARY.index("3.")], chunks=2, delay=1),
        Say(SUMMARY[SUMMARY.index("3.") :], delay=3600),
    ])"""


def write_lingering(agents: Path) -> None:
    """Put it in the place of the sample, or where there is none yet."""
    code = (SAMPLES / "summary" / "agent.py").read_text(encoding="utf-8")
    assert _WHOLE in code
    write_app(agents, "summary", code.replace(_WHOLE, _CUT))
