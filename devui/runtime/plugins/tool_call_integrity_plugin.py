"""`ToolCallIntegrityPlugin`: no call runs that was changed in the store (adk-runtime 10.4)."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.invocation_context import INTERNAL_METADATA
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.workflow.tool_node import ToolNode

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.sessions.session import Session
    from devui.runtime.tools.base_tool import BaseTool


# Stamps that tell whether a function call is still as the model made it (adk-runtime 10.4).
#
# A stamp is made with a secret key over the call and where it stands, so whoever can write to a
# session store but has no key can neither change a call nor move it. Stamps are made as google-
# adk makes them: sessions with stamps may be opened by either runtime.


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
        digest = stamp.removeprefix(_VERSION)
        if digest == stamp:
            return False
        content = _stamped(session, event, call)
        return any(hmac.compare_digest(_digest(key, content), digest) for key in self._keys)


def same_call(call: types.FunctionCall, name: str, args: dict[str, Any]) -> bool:
    """Whether the call is one of that tool with these arguments."""
    other = call.model_copy(update={"args": args})
    return call.name == name and _canonical(_args(call)) == _canonical(_args(other))


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
    args: dict[str, Any] = call.model_dump(mode="json", include={"args"}).get("args") or {}
    return args


def _canonical(value: Any) -> str:
    return json.dumps(_numbers(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _numbers(value: Any) -> Any:
    """The value with whole numbers as integers: some stores give 1 back as 1.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    return [_numbers(each) for each in value] if isinstance(value, list | tuple) else value


logger = logging.getLogger(__name__)

_STAMPS = f"{INTERNAL_METADATA}fc_hmac"
_RESTORED = f"{INTERNAL_METADATA}restored_event"


class ToolCallIntegrityError(ValueError):
    """A function call in the session was changed after the model made it."""


class ToolCallIntegrityPlugin(BasePlugin):
    """Signs each function call, and lets a tool run only if its call has a valid signature.

    A resumed invocation runs calls from the session's store, which anyone with write access could
    change. Put this plugin before others that change calls or event metadata. Tools that are nodes
    of a Workflow have no call and aren't checked.
    """

    def __init__(
        self,
        secret_key: bytes | Sequence[bytes],
        *,
        allow_unstamped_calls: bool = False,
        name: str = "tool_call_integrity",
    ) -> None:
        """Take the key.

        Args:
            secret_key: The key for stamps. Of several, the first makes new ones and all are
                accepted, so that keys can be changed.
            allow_unstamped_calls: Only warn of calls without a stamp, such as those from before
                the plugin was there. Who removes a stamp is then not kept from changing a call.
            name: The plugin's name.

        Raises:
            ValueError: there is no key, or one is empty or no bytes.
        """
        super().__init__(name)
        self._call_stamps = CallStamps(secret_key)
        self._allow_unstamped_calls = allow_unstamped_calls

    @staticmethod
    def prepare_restored_event(event: Event) -> Event:
        """A copy of an event of another session, to be appended as history.

        Its calls pass the check of the history without a stamp, and are never run.
        """
        copy = event.model_copy(deep=True)
        metadata = copy.custom_metadata or {}
        copy.custom_metadata = {
            key: value for key, value in metadata.items() if not key.startswith(INTERNAL_METADATA)
        } | {_RESTORED: True}
        return copy

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Stamp the calls of an event.

        Raises:
            ToolCallIntegrityError: two of them have one id, so neither could be told.
        """
        calls = [call for call in event.get_function_calls() if call.id]
        ids = [str(call.id) for call in calls]
        if not event.partial and len(set(ids)) < len(ids):
            raise ToolCallIntegrityError(f"Event {event.id!r} has calls of one id: {ids}.")
        if calls:
            session = invocation_context.session
            stamps = {str(call.id): self._call_stamps.stamp(session, event, call) for call in calls}
            event.custom_metadata = (event.custom_metadata or {}) | {_STAMPS: stamps}

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Check the whole history.

        Raises:
            ToolCallIntegrityError: a call was changed, added, renamed or removed.
        """
        session = invocation_context.session
        for event in session.events:
            calls = event.get_function_calls()
            if calls and not _is_restored(event):
                _check(self, session, event, calls)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> None:
        """Check the call that is to be run.

        Raises:
            ToolCallIntegrityError: its stamp does not fit, or it is run with another name or
                other arguments than the model gave.
        """
        if isinstance(tool_context.node, ToolNode):
            return
        call_id = tool_context.function_call_id
        if not call_id:
            raise ToolCallIntegrityError(f"A call of {tool.name!r} has no id to know it by.")
        session = tool_context.session
        matches = [
            (event, call)
            for event in session.events
            for call in event.get_function_calls()
            if call.id == call_id
        ]
        own = [(event, call) for event, call in matches if not _is_restored(event)]
        if matches and not own:
            raise ToolCallIntegrityError(
                f"The call {call_id!r} of {tool.name!r} belongs to restored history."
            )
        if not own:
            self._unstamped(tool.name, call_id)
            return
        for event, call in own:
            _check_one(self, session, event, call)
        if not any(same_call(call, tool.name, tool_args) for _, call in own):
            raise ToolCallIntegrityError(
                f"The call {call_id!r} is to be run as {tool.name!r} with other arguments than"
                " those in the session."
            )

    def _unstamped(self, name: str | None, call_id: str | None) -> None:
        if not self._allow_unstamped_calls:
            raise ToolCallIntegrityError(
                f"The call {call_id!r} of {name!r} has no stamp. If it is from before the plugin"
                " was there: allow_unstamped_calls=True."
            )
        logger.warning("The call %r of %r has no stamp.", call_id, name)


def _check_one(
    plugin: ToolCallIntegrityPlugin, session: Session, event: Event, call: types.FunctionCall
) -> bool:
    """Whether the call has a stamp."""
    stamp = _stamps_of(event).get(str(call.id))
    if stamp is None:
        plugin._unstamped(call.name, call.id)
        return False
    if not plugin._call_stamps.fits(stamp, session, event, call):
        raise ToolCallIntegrityError(
            f"The call {call.id!r} of {call.name!r} was changed after the model made it."
        )
    return True


def _check(
    plugin: ToolCallIntegrityPlugin, session: Session, event: Event, calls: list[types.FunctionCall]
) -> None:
    call_ids: set[str] = set()
    for call in calls:
        if call.id in call_ids:
            raise ToolCallIntegrityError(f"Event {event.id!r} has two calls {call.id!r}.")
        if call.id and _check_one(plugin, session, event, call):
            call_ids.add(call.id)
    if missing := sorted(_stamps_of(event).keys() - call_ids):
        raise ToolCallIntegrityError(f"Event {event.id!r} has lost its calls {missing}.")


def _is_restored(event: Event) -> bool:
    return bool((event.custom_metadata or {}).get(_RESTORED))


def _stamps_of(event: Event) -> dict[str, str]:
    stamps = (event.custom_metadata or {}).get(_STAMPS, {})
    if not isinstance(stamps, dict) or not all(_is_stamp(value) for value in stamps.values()):
        raise ToolCallIntegrityError(f"Event {event.id!r} has something else in place of stamps.")
    return stamps


def _is_stamp(value: object) -> bool:
    return isinstance(value, str) and value.isascii()
