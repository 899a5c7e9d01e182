"""Gets the credentials of toolsets ready before their tools are listed (adk-runtime 8.6)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from devui.runtime.agents.context import Context
from devui.runtime.auth.auth_handler import AuthHandler
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_manager import CredentialManager
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.user_requests import credential_event
from devui.runtime.tools.base_toolset import toolsets_of

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest

logger = logging.getLogger(__name__)

TOOLSET_AUTH_CREDENTIAL_ID_PREFIX = "_adk_toolset_auth_"
"""Begins the `functionCallId` of a request that no function call made."""


def _has_toolsets(ctx: InvocationContext) -> bool:
    return bool(toolsets_of(agent_of(ctx).tools))


async def _run(ctx: InvocationContext, llm_request: LlmRequest) -> AsyncGenerator[Event, None]:
    missing: dict[str, AuthConfig] = {}
    for toolset in toolsets_of(agent_of(ctx).tools):
        if config := toolset.get_auth_config():
            name = type(toolset).__name__
            request = await _request(ctx, config, name)
            if request is not None:
                missing[f"{TOOLSET_AUTH_CREDENTIAL_ID_PREFIX}{name}"] = request
    if missing:
        yield credential_event(ctx, missing, role=None)
        ctx.end_invocation = True


async def _request(ctx: InvocationContext, config: AuthConfig, name: str) -> AuthConfig | None:
    """Put the credential into the invocation, or tell what to ask the user."""
    manager = CredentialManager(config)
    try:
        credential = await manager.get_auth_credential(Context(ctx))
        if credential is None:
            return AuthHandler(manager.auth_config).generate_auth_request()
    except ValueError as error:
        logger.warning("%s is used without a credential: %s", name, error)
        return None
    ctx.credential_by_key[config.credential_key or ""] = credential
    return None


toolset_auth = RequestProcessor("toolset_auth", run=_run, wanted=_has_toolsets)
"""Comes before the tools are listed, which may need the credentials."""
