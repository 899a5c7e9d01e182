"""Exceptions of agent code, told so that the author of the agent can act on them."""

import traceback
from pathlib import Path

from devui.runtime.mistakes import lines_of, message_of, raised_together
from devui.wire.messages import AgentError

_OUR_FILES = str(Path(__file__).parent.parent)
_NOISE = ("<frozen importlib", "<frozen runpy", "/concurrent/futures/", "/asyncio/")
_MAX_TRACEBACK = 60_000
_MAX_MESSAGE = 20_000


def agent_error(error: BaseException, agents_dir: Path) -> AgentError:
    """Describe `error` with the agent author's own frames and their innermost file and line.

    Frames of the import machinery are left out; frames of the runtime stay, since they say how the
    agent was called. A group is described by its first member, then by a line for each of the
    others, with the whole group's traceback.
    """
    text = "".join(_readable(traceback.TracebackException.from_exception(error)).format())
    innermost, *others = raised_together(error)
    file, line = _where(innermost, agents_dir)
    told = [message_of(innermost), *lines_of(others)]
    return AgentError(
        type=type(innermost).__name__,
        message=sendable("\n".join(told))[:_MAX_MESSAGE],
        traceback=sendable(text)[-_MAX_TRACEBACK:],
        file=readable_path(file, agents_dir) if file else None,
        line=line,
    )


def sendable(text: str) -> str:
    """The text with what UTF-8 cannot hold spelled out: halves of surrogate pairs."""
    return text.encode(errors="backslashreplace").decode()


def readable_path(file: str, agents_dir: Path) -> str:
    """A path below the agents' folder is told from there on."""
    root = agents_dir.resolve()
    return str(Path(file).relative_to(root)) if Path(file).is_relative_to(root) else file


def _readable(told: traceback.TracebackException) -> traceback.TracebackException:
    kept = [frame for frame in told.stack if not any(n in frame.filename for n in _NOISE)]
    # The worker's own frames above the agent's first one explain nothing to its author.
    start = next((i for i, f in enumerate(kept) if not f.filename.startswith(_OUR_FILES)), 0)
    told.stack = traceback.StackSummary.from_list(kept[start:])
    if told.__cause__ is not None:
        _readable(told.__cause__)
    if told.__context__ is not None:
        _readable(told.__context__)
    return told


def _where(error: BaseException, agents_dir: Path) -> tuple[str | None, int | None]:
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    root = str(agents_dir.resolve())
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(root)]
    if not own and error.__cause__ is not None:  # raised by the runtime, or Python, of another
        file, line = _where(error.__cause__, agents_dir)
        if file is not None and file.startswith(root):
            return file, line
    foreign = [frame for frame in frames if not frame.filename.startswith(_OUR_FILES)]
    innermost = (own or foreign)[-1:]
    return (innermost[0].filename, innermost[0].lineno) if innermost else (None, None)
