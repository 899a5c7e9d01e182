"""`ReadonlyContext`: the view that instructions and toolsets get (adk-runtime 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.run_config import RunConfig
    from devui.runtime.auth.auth_credential import AuthCredential
    from devui.runtime.sessions.session import Session


class ReadonlyContext:
    """What may be known about the invocation, without a way to change it."""

    def __init__(self, invocation_context: InvocationContext) -> None:
        self._invocation_context = invocation_context

    @property
    def user_content(self) -> types.Content | None:
        """The message that began the invocation."""
        return self._invocation_context.user_content

    @property
    def invocation_id(self) -> str:
        """Id of the invocation."""
        return self._invocation_context.invocation_id

    @property
    def agent_name(self) -> str:
        """Name of the agent, or else the root of the workflow, that runs; or `unknown`."""
        agent = self._invocation_context.agent
        root = (self._invocation_context.node_path or "").partition("@")[0]
        return agent.name if agent else root or "unknown"

    @property
    def state(self) -> Any:
        """The session's state, read-only."""
        return MappingProxyType(self._invocation_context.session.state)

    @property
    def session(self) -> Session:
        """The session."""
        return self._invocation_context.session

    @property
    def user_id(self) -> str:
        """Id of the user."""
        return self._invocation_context.user_id

    @property
    def run_config(self) -> RunConfig | None:
        """The settings of the run."""
        return self._invocation_context.run_config

    @property
    def custom_metadata(self) -> Mapping[str, Any]:
        """The labels of the run, read-only."""
        return MappingProxyType(self._invocation_context.custom_metadata)

    @property
    def is_aborted(self) -> bool:
        """Whether the invocation was asked to stop."""
        return self._invocation_context.is_aborted

    def get_credential(self, key: str) -> AuthCredential | None:
        """The credential resolved in this invocation under `key`."""
        return self._invocation_context.credential_by_key.get(key)
