"""`LlmAgent`: an agent that a model drives (LlmAgent seed; adk-runtime 6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from google.genai import types
from pydantic import Field, PrivateAttr, field_validator, model_validator

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.llm_agent_output import OutputSaver, check_schema
from devui.runtime.agents.llm_agent_settings import check_settings, refuse_unknown
from devui.runtime.callbacks import Callback, as_list
from devui.runtime.calling import call
from devui.runtime.events.event import Event
from devui.runtime.flows.llm_flows.auto_flow import AutoFlow
from devui.runtime.flows.llm_flows.base_llm_flow import BaseLlmFlow
from devui.runtime.flows.llm_flows.single_flow import SingleFlow
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.models.registry import LLMRegistry
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.readonly_context import ReadonlyContext

logger = logging.getLogger(__name__)
