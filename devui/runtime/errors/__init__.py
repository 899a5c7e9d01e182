"""The errors that users of the runtime may want to catch.

NotFoundError(Exception)
  InvocationNotFoundError (also a ValueError)
AlreadyExistsError(Exception)
InputValidationError(ValueError)
SessionNotFoundError(ValueError)
StaleSessionError(ValueError)
ToolExecutionError(Exception), with its ToolErrorType
"""

from devui.runtime.errors.already_exists_error import AlreadyExistsError
from devui.runtime.errors.input_validation_error import InputValidationError
from devui.runtime.errors.invocation_not_found_error import InvocationNotFoundError
from devui.runtime.errors.not_found_error import NotFoundError
from devui.runtime.errors.session_not_found_error import SessionNotFoundError
from devui.runtime.errors.stale_session_error import StaleSessionError
from devui.runtime.errors.tool_execution_error import ToolErrorType, ToolExecutionError

__all__ = [
    "AlreadyExistsError",
    "InputValidationError",
    "InvocationNotFoundError",
    "NotFoundError",
    "SessionNotFoundError",
    "StaleSessionError",
    "ToolErrorType",
    "ToolExecutionError",
]
