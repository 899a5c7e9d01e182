"""What DebugLoggingPlugin writes to its file."""

import tempfile
from functools import partial
from pathlib import Path

import yaml

from tests.differential.case import Case, add
from tests.differential.differing_files import DEBUG_LOG
from tests.differential.script import Boom, Error, Raise, Say, call


async def look(a: int = 0) -> str:
    """Looks; async, so that the calls of a batch are told in one order on both runtimes."""
    return f"seen {a}"


def fall() -> None:
    """Falls."""
    raise Boom("boom")


WRITTEN = {
    "a text": ["Hello."],
    "a tool": [call("look", a=1), "Done."],
    "a batch": [[Say("Both."), call("look", a=1), call("look", a=2)], "Done."],
    "an unknown tool": [call("gone"), "Done."],
    "an error": [Error()],
}
FAILING = {"a tool that raises": [call("fall")], "a model that raises": [Raise()]}

_COUNTED = {"function_call_id", "event_id", "id", "node_path"}
_WORDED = {"error", "system_instruction", "error_message"}


def _plain(value, key=""):
    """Return data without ids, and with types in place of texts that each runtime words itself."""
    if isinstance(value, dict):
        return {
            name: _plain(each, name)
            for name, each in sorted(value.items())
            if name not in _COUNTED and each is not None
        }
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return type(value).__name__ if key in _WORDED else value


async def _logged(stage, answers, play):
    agent = stage.agent("agent", *answers, tools=[look, fall], output_key="said")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "debug.yaml"
        plugin = stage.ns.DebugLoggingPlugin(output_path=str(path))
        await stage.open(agent, plugins=[plugin])
        await getattr(stage, play)("go")
        text = path.read_text() if path.exists() else ""
    for document in yaml.safe_load_all(text):
        stage.note("document", sorted(document))
        for entry in document["entries"]:
            data = entry.get("data") or {}
            if not data.get("partial"):  # fragments are ordered differently, see FRAGMENTS_IN_STEP
                stage.note(entry["entry_type"], entry.get("agent_name"), _plain(data))


for _play in ("say", "stream"):
    for _name, _answers in {**WRITTEN, **FAILING}.items():
        add(
            Case(
                f"a debug log of {_name}, by {_play}",
                partial(_logged, answers=_answers, play=_play),
                differs=DEBUG_LOG,
                needs="yaml",
            )
        )
