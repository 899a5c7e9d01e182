"""Stamps that tell whether a function call is still as the model made it (adk-runtime 10.4).

A stamp is made with a secret key over the call and where it stands, so whoever can write to a
session store but has no key can neither change a call nor move it. Stamps are made as google-adk
makes them: sessions with stamps may be opened by either runtime.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.events.event import Event
    from devui.runtime.sessions.session import Session

_VERSION = "v1:"


class CallStamps:
    """Makes stamps with the first of some keys, and checks them with all."""

    def __init__(self, keys: bytes | Sequence[bytes]) -> None:
        """Take the keys; the first one is for new stamps, the others are from earlier times.

        Raises:
            ValueError: there is no key, or one is empty or no bytes.
        """
        self._keys = [keys] if isinstance(keys, bytes) else list(keys)
        if not self._keys or not all(isinstance(key, bytes) and key for key in self._keys):
            raise ValueError("secret_key must be bytes, or a list of them, and not empty.")

    def stamp(self, session: Session, event: Event, call: types.FunctionCall) -> str:
        """The stamp of a call of that event."""
        return _VERSION + _digest(self._keys[0], _stamped(session, event, call))

    def fits(self, stamp: str, session: Session, event: Event, call: types.FunctionCall) -> bool:
        """Whether the stamp was made for this very call."""
        given = stamp.removeprefix(_VERSION)
        if given == stamp:
            return False
        content = _stamped(session, event, call)
        return any(hmac.compare_digest(_digest(key, content), given) for key in self._keys)


def same_call(call: types.FunctionCall, name: str, args: dict[str, Any]) -> bool:
    """Whether the call is one of that tool with these arguments."""
    asked = call.model_copy(update={"args": args})
    return call.name == name and _canonical(_args(call)) == _canonical(_args(asked))


def _digest(key: bytes, content: str) -> str:
    return hmac.new(key, content.encode(), hashlib.sha256).hexdigest()


def _stamped(session: Session, event: Event, call: types.FunctionCall) -> str:
    return _canonical(
        {
            "app_name": session.app_name,
            "user_id": session.user_id,
            "session_id": session.id,
            "invocation_id": event.invocation_id,
            "branch": event.branch,
            "author": event.author,
            "name": call.name,
            "id": call.id,
            "args": _args(call),
        }
    )


def _args(call: types.FunctionCall) -> dict[str, Any]:
    """The arguments as a session store writes them."""
    written: dict[str, Any] = call.model_dump(mode="json", include={"args"}).get("args") or {}
    return written


def _canonical(value: Any) -> str:
    return json.dumps(_numbers(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _numbers(value: Any) -> Any:
    """The value with whole numbers as integers: some stores give 1 back as 1.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    return [_numbers(each) for each in value] if isinstance(value, list | tuple) else value
