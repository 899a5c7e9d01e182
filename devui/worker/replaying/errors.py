"""What ends a replay early.

    ReplayEnd
     +- Diverged         the agent's code went another way than recorded
     +- RecordingEnds    the recorded run was cut off here

Both are exceptions of the run, and remembered by it: a callback that answers for any error cannot
make a replay go on.
"""

import ast
import builtins

from devui.wire.recordings import Divergence


class ReplayEnd(Exception):
    """The replay does not go on."""


class Diverged(ReplayEnd):
    """The first difference between the replay and the recording."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.message)
        self.divergence = divergence


class RecordingEnds(ReplayEnd):
    """All that was recorded has been executed again."""


def recorded_error(told: str) -> Exception:
    """The exception that a recorded call raised, from `Type: message`.

    One of Python's own is of its type; any other is of a new type of that name.
    """
    name, _, message = told.partition(": ")
    if name == "KeyError":
        return _key_error(message)
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            error: Exception = known(message)
        except TypeError:  # UnicodeError and the like want more than a message
            pass
        else:
            return error
    if not name.isidentifier():
        return RuntimeError(told)
    made: Exception = type(name, (Exception,), {})(message)
    return made


def _key_error(message: str) -> KeyError:
    """It says its key as code would, and its notes below; a sentence stands for itself."""
    key, _, notes = message.partition("\n")
    try:
        error = KeyError(ast.literal_eval(key))
    except (ValueError, SyntaxError):
        return KeyError(message)
    if notes:
        error.add_note(notes)
    return error
