"""Where commands of agents run and their files are (adk-runtime 8.8)."""

from devui.runtime.environment.base_environment import BaseEnvironment, ExecutionResult
from devui.runtime.environment.local_environment import LocalEnvironment

__all__ = ["BaseEnvironment", "ExecutionResult", "LocalEnvironment"]
