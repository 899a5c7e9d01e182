"""What `devui test --refresh` has recorded anew: written beside its tests, and told in words."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devui.cli.files import write_files
from devui.cli.lines import plain, times
from devui.debugger.keeping.cleaning import cleaned, file_text
from devui.debugger.redaction import NOTHING, Redactor
from devui.debugger.secretvalues import secrets_of
from devui.wire.framing import codecs
from devui.wire.outcomes import agents_in_turn, last_text, tool_calls, written
from devui.wire.recordings import Recording

_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A recording that a test did not play as it was."""

    file: Path
    lines: list[str]
    """What became of it, in words."""
    is_made: bool
    """Whether it was recorded anew; else its file is as it was."""


def take(folder: Path, *, keep_secrets: bool) -> list[Refreshed]:
    """Write what lies in the folder, without secrets, in the place of the old recordings.

    Raises Failed for a file that cannot be written.
    """
    told = [json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*.json")]
    told.sort(key=lambda each: str(each["recording"]))
    return [_taken(each, keep_secrets=keep_secrets) for each in told]


def _taken(told: dict[str, Any], *, keep_secrets: bool) -> Refreshed:
    file = Path(told["recording"])
    because = f"  because {plain(told['because'])}"
    if told["problem"] is not None:
        lines = [f"{_short(file)}: left as it is", because, f"  {plain(told['problem'])}"]
        return Refreshed(file, lines, is_made=False)
    apps = Path(told["agent"]).parent if told["agent"] else file.parent
    redactor = NOTHING if keep_secrets else Redactor(secrets_of(apps))
    redacted: Counter[str] = Counter()

    def found(kind: str, _: str) -> None:
        redacted[kind] += 1

    old = _recording(file.read_bytes())
    made = cleaned(_recording(told["made"].encode()), redactor, found)
    write_files({file: file_text(made)}, force=True)
    lines = [f"{_short(file)}: recorded anew", because, *_live(told["live"]), *_changes(old, made)]
    lines += [f"  left out: {kind}, {times(count)}" for kind, count in sorted(redacted.items())]
    return Refreshed(file, lines, is_made=True)


def _recording(data: bytes) -> Recording:
    recording: Recording = codecs().RECORDING.load(data)
    return recording


def _short(file: Path) -> Path:
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file


def _live(calls: list[str]) -> Iterator[str]:
    told = [plain(f"{c}, {times(n)}" if n > 1 else c) for c, n in Counter(calls).items()]
    yield f"  called for real: {'; '.join(told) or 'nothing, all answers are recorded ones'}"


def _changes(old: Recording, new: Recording) -> Iterator[str]:
    before, after = _outcome(old), _outcome(new)
    changes = [
        f"  {plain(name)}: {_value(before.get(name))} → {_value(after.get(name))}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    yield from changes or ["  it comes to the same: agents, tools, text and state"]


def _outcome(recording: Recording) -> dict[str, Any]:
    events = recording.events
    tools = [
        f"{name}({', '.join(f'{key}={json.dumps(value)}' for key, value in args.items())})"
        for name, args in tool_calls(events)
    ]
    return {
        "ends with": recording.error or "no error",
        "agents": agents_in_turn(events),
        "tools": tools,
        "says at the end": last_text(events),
        **{f"state {key}": value for key, value in written(events).items()},
    }


def _value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        text = ", ".join(value) or "none"
    else:
        text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return plain(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
