"""What services of one's own need to store sessions: google-adk's `_session_util`.

State is sorted by scope and put into JSON's types; what was stored is read back (adk-runtime 2.3).
"""

import logging
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from devui.runtime.jsonable import jsonable
from devui.runtime.mistakes import without_json
from devui.runtime.sessions.scopes import ScopedState

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)


def extract_state_delta(state: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The state of the scopes `app`, `user` and `session`, keys without prefix."""
    scoped = ScopedState.of(state or {})
    return {"app": scoped.app, "user": scoped.user, "session": scoped.session}


def make_json_safe_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state in JSON's types; what has no JSON form is kept as its repr, with a warning."""
    try:
        return dict(to_jsonable_python(dict(state), inf_nan_mode="null"))
    except (ValueError, TypeError):
        logger.warning("%s in the state has no JSON form; its repr is stored.", without_json(state))
        return dict(jsonable(dict(state), inf_nan_mode="null"))


def extract_json_safe_state_delta(state: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The state by scope, as `extract_state_delta` has it, in JSON's types."""
    return make_json_safe_state(extract_state_delta(state))


def decode_model(data: object, model_cls: type[M]) -> M | None:
    """The object that stored data stands for; None for what can stand for none, such as a text."""
    if data is None or isinstance(data, str | bytes | int | float | list | tuple | set):
        return None
    return model_cls.model_validate(data)
