"""Describes locations and errors in agent code so that its author can act on them."""

import linecache
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from devui.runtime.mistakes import lines_of, message_of, raised_together
from devui.wire.errors import AgentError
from devui.wire.inspection import Place
from devui.worker.import_advice import import_advice
from devui.worker.yaml_places import yaml_place

_OUR_FILES = str(Path(__file__).parent.parent)
_NOISE = ("<frozen importlib", "<frozen runpy", "/concurrent/futures/", "/asyncio/")
_MAX_TRACEBACK = 60_000
_MAX_MESSAGE = 20_000


def agent_error(error: BaseException, agents_dir: Path) -> AgentError:
    """Describe `error` with the agent author's own frames and their innermost file and line.

    Frames of the import machinery are left out; frames of the runtime stay, since they show how the
    agent was called. A group is described by its first member and one line for each of the others,
    with the traceback of the whole group.
    """
    text = "".join(_readable(traceback.TracebackException.from_exception(error)).format())
    innermost, *others = raised_together(error)
    file, line = _where(innermost, agents_dir)
    root = agents_dir.resolve()
    advice = import_advice(innermost, root, file, linecache.getline(file or "", line or 0))
    message = message_of(innermost)
    messages = [f"{message.rstrip('.')}.", advice] if advice else [message]
    messages += lines_of(others)
    return AgentError(
        type=type(innermost).__name__,
        message=sendable("\n".join(messages))[:_MAX_MESSAGE],
        traceback=sendable(text)[-_MAX_TRACEBACK:],
        file=readable_path(file, agents_dir) if file else None,
        line=line,
    )


def sendable(text: str) -> str:
    """Return the text with lone surrogates escaped, which UTF-8 can't encode."""
    return text.encode(errors="backslashreplace").decode()


def readable_path(file: str, agents_dir: Path) -> str:
    """Return the path, relative to the agents' folder if the file is inside it."""
    root = agents_dir.resolve()
    return str(Path(file).relative_to(root)) if Path(file).is_relative_to(root) else file


def _readable(trace: traceback.TracebackException) -> traceback.TracebackException:
    frames = [frame for frame in trace.stack if not any(n in frame.filename for n in _NOISE)]
    # The worker's own frames above the agent's first one explain nothing to its author. If the
    # error is in a text that only devui has read, no frame does.
    is_of_text = "filename" in vars(trace)
    start = next(
        (i for i, frame in enumerate(frames) if not frame.filename.startswith(_OUR_FILES)),
        len(frames) if is_of_text else 0,
    )
    trace.stack = traceback.StackSummary.from_list(frames[start:])
    if trace.__cause__ is not None:
        _readable(trace.__cause__)
    if trace.__context__ is not None:
        _readable(trace.__context__)
    return trace


def _where(error: BaseException, agents_dir: Path) -> tuple[str | None, int | None]:
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    root = str(agents_dir.resolve())
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(root)]
    if not own and error.__cause__ is not None:  # the runtime or Python wrapped another error
        file, line = _where(error.__cause__, agents_dir)
        if file is not None and file.startswith(root):
            return file, line
    if not own and (described := yaml_place(error)):
        return described
    foreign = [frame for frame in frames if not frame.filename.startswith(_OUR_FILES)]
    innermost = (own or foreign)[-1:]
    return (innermost[0].filename, innermost[0].lineno) if innermost else (None, None)


_MOST: Final = 60
_CHARACTERS: Final = 300


def places_of(frames: Sequence[FrameType], agents: Path) -> list[Place]:
    """Describe the frames, outermost first; only the innermost if there are very many."""
    return [_place(frame, agents) for frame in frames[-_MOST:]]


def _place(frame: FrameType, agents: Path) -> Place:
    file, line = frame.f_code.co_filename, frame.f_lineno or 0
    own = file.startswith(f"{agents}/") and "/site-packages/" not in file
    return Place(
        file=sendable(readable_path(file, agents) if own else _library_path(file)),
        line=line,
        function=sendable(frame.f_code.co_qualname)[:_CHARACTERS],
        source=sendable(linecache.getline(file, line).strip())[:_CHARACTERS],
        own=own,
    )


def innermost(places: Sequence[Place]) -> Place | None:
    """Return the innermost place in the app's own code, or else the innermost of all."""
    own = [place for place in places if place.own]
    candidates = own or places
    return candidates[-1] if candidates else None


def _library_path(file: str) -> str:
    """Return the path relative to the folder on `sys.path` that it is imported from."""
    roots = [root for root in sys.path if root and file.startswith(f"{root}/")]
    return file.removeprefix(max(roots, key=len, default="")).lstrip("/") if roots else file
