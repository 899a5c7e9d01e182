"""The basics of a request: model name and generation settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.models.own_config import own_config, own_http_options

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.run_config import RunConfig
    from devui.runtime.models.llm_request import LlmRequest

_OF_RUNS = frozenset({"timeout", "retry_options", "extra_body"})
"""HTTP options of a run that are laid over those of its agents (adk-runtime 7.2)."""


async def _prepare(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    llm_request.model = agent.canonical_model.model
    if agent.generate_content_config is not None:
        # The request gets settings of its own, since callbacks and tools change them.
        llm_request.config = own_config(agent.generate_content_config)
    if ctx.run_config is not None:
        _apply(ctx.run_config, llm_request.config)


def _apply(run_config: RunConfig, config: types.GenerateContentConfig) -> None:
    """Lay the settings of the run over those of the agent."""
    if run_config.labels:
        config.labels = {**(config.labels or {}), **run_config.labels}
    if run_config.http_options is not None:
        config.http_options = _merged(config.http_options, run_config.http_options)


def _merged(agents: types.HttpOptionsOrDict | None, runs: types.HttpOptions) -> types.HttpOptions:
    """The agent's HTTP options with those of the run on top; headers are joined.

    Where the service is, and by which client it is reached, stays as the agent has it.
    """
    if agents is None:
        return own_http_options(runs)
    base = types.HttpOptions.model_validate(agents)
    given = own_http_options(runs)
    update = {name: value for name, value in given if name in _OF_RUNS and value is not None}
    update["headers"] = {**(base.headers or {}), **(runs.headers or {})} or None
    return base.model_copy(update=update)


request_processor = basic = RequestProcessor("basic", prepare=_prepare)
