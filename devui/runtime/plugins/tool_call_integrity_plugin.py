"""`ToolCallIntegrityPlugin`: refuses calls that were changed in the store (adk-runtime 10.4)."""

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


# Stamps that show whether a function call is still as the model made it (adk-runtime 10.4).
#
# A stamp is an HMAC of the call and its place in the history, so whoever can write to a session
# store but has no key can neither change nor move a call. The stamps have google-adk's form, so
# either runtime can open sessions with them.


_VERSION = "v1:"


class CallStamps:
    """Creates stamps with the first of several keys, and checks stamps against all of them."""

    def __init__(self, keys: bytes | Sequence[bytes]) -> None:
        """Set the keys: the first one is for new stamps, the others are for older ones.

        Raises:
            ValueError: there is no key, or one is empty or isn't bytes.
        """
        self._keys = [keys] if isinstance(keys, bytes) else list(keys)
        if not self._keys or not all(isinstance(key, bytes) and key for key in self._keys):
            raise ValueError("secret_key must be non-empty bytes, or a non-empty list of them.")

    def stamp(self, session: Session, event: Event, call: types.FunctionCall) -> str:
        """Return the stamp of a call in that event."""
        return _VERSION + _digest(self._keys[0], _stamped(session, event, call))

    def fits(self, stamp: str, session: Session, event: Event, call: types.FunctionCall) -> bool:
        """Return whether the stamp was made for exactly this call."""
        digest = stamp.removeprefix(_VERSION)
        if digest == stamp:
            return False
        content = _stamped(session, event, call)
        return any(hmac.compare_digest(_digest(key, content), digest) for key in self._keys)


def same_call(call: types.FunctionCall, name: str, args: dict[str, Any]) -> bool:
    """Return whether the call is one of that tool with these arguments."""
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
    """Return the arguments as a session store writes them."""
    args: dict[str, Any] = call.model_dump(mode="json", include={"args"}).get("args") or {}
    return args


def _canonical(value: Any) -> str:
    return json.dumps(_numbers(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _numbers(value: Any) -> Any:
    """Convert whole numbers to integers: some stores return 1 as 1.0."""
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
        """Set the keys.

        Args:
            secret_key: The key for stamps, or several: the first creates new stamps and all are
                accepted, so that keys can be rotated.
            allow_unstamped_calls: Only warn about calls without a stamp, such as those from before
                the plugin was added. Someone who removes a stamp can then change the call.
            name: The plugin's name.

        Raises:
            ValueError: there is no key, or one is empty or isn't bytes.
        """
        super().__init__(name)
        self._call_stamps = CallStamps(secret_key)
        self._allow_unstamped_calls = allow_unstamped_calls

    @staticmethod
    def prepare_restored_event(event: Event) -> Event:
        """Copy an event of another session, to be appended as history.

        The copy's calls pass the check of the history without a stamp, and are never run.
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
            ToolCallIntegrityError: two calls have the same id.
        """
        calls = [call for call in event.get_function_calls() if call.id]
        ids = [str(call.id) for call in calls]
        if not event.partial and len(set(ids)) < len(ids):
            raise ToolCallIntegrityError(
                f"Event {event.id!r} has several calls with the same id: {ids}."
            )
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
        """Check the call that is about to run.

        Raises:
            ToolCallIntegrityError: the call's stamp is missing or doesn't match, or the call's name
                or arguments aren't those that the model gave.
        """
        if isinstance(tool_context.node, ToolNode):
            return
        call_id = tool_context.function_call_id
        if not call_id:
            raise ToolCallIntegrityError(
                f"A call of {tool.name!r} has no id, so it can't be checked."
            )
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
                f"The call {call_id!r} of {tool.name!r} comes from restored history."
            )
        if not own:
            self._unstamped(tool.name, call_id)
            return
        for event, call in own:
            _check_one(self, session, event, call)
        if not any(same_call(call, tool.name, tool_args) for _, call in own):
            raise ToolCallIntegrityError(
                f"The call {call_id!r} is about to run as {tool.name!r} with arguments that"
                " differ from those in the session."
            )

    def _unstamped(self, name: str | None, call_id: str | None) -> None:
        if not self._allow_unstamped_calls:
            raise ToolCallIntegrityError(
                f"The call {call_id!r} of {name!r} has no stamp. If it is older than the plugin,"
                " set allow_unstamped_calls=True."
            )
        logger.warning("The call %r of %r has no stamp.", call_id, name)


def _check_one(
    plugin: ToolCallIntegrityPlugin, session: Session, event: Event, call: types.FunctionCall
) -> bool:
    """Check a call's stamp, and return whether it has one."""
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
            raise ToolCallIntegrityError(
                f"Event {event.id!r} has two calls with the id {call.id!r}."
            )
        if call.id and _check_one(plugin, session, event, call):
            call_ids.add(call.id)
    if missing := sorted(_stamps_of(event).keys() - call_ids):
        raise ToolCallIntegrityError(f"Event {event.id!r} no longer has its calls {missing}.")


def _is_restored(event: Event) -> bool:
    return bool((event.custom_metadata or {}).get(_RESTORED))


def _stamps_of(event: Event) -> dict[str, str]:
    stamps = (event.custom_metadata or {}).get(_STAMPS, {})
    if not isinstance(stamps, dict) or not all(_is_stamp(value) for value in stamps.values()):
        raise ToolCallIntegrityError(f"Event {event.id!r} has invalid stamps.")
    return stamps


def _is_stamp(value: object) -> bool:
    return isinstance(value, str) and value.isascii()
