"""Plugins: hooks around everything an app does. Names are loaded on first use."""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy

if TYPE_CHECKING:
    from devui.runtime.plugins.base_plugin import BasePlugin
    from devui.runtime.plugins.context_filter_plugin import ContextFilterPlugin
    from devui.runtime.plugins.debug_logging_plugin import DebugLoggingPlugin
    from devui.runtime.plugins.global_instruction_plugin import GlobalInstructionPlugin
    from devui.runtime.plugins.logging_plugin import LoggingPlugin
    from devui.runtime.plugins.multimodal_tool_results_plugin import MultimodalToolResultsPlugin
    from devui.runtime.plugins.plugin_manager import PluginManager
    from devui.runtime.plugins.reflect_retry_model_plugin import ReflectAndRetryModelPlugin
    from devui.runtime.plugins.reflect_retry_tool_plugin import ReflectAndRetryToolPlugin
    from devui.runtime.plugins.save_files_as_artifacts_plugin import SaveFilesAsArtifactsPlugin
    from devui.runtime.plugins.tool_call_integrity_plugin import (
        ToolCallIntegrityError,
        ToolCallIntegrityPlugin,
    )

__all__ = [
    "BasePlugin",
    "ContextFilterPlugin",
    "DebugLoggingPlugin",
    "GlobalInstructionPlugin",
    "LoggingPlugin",
    "MultimodalToolResultsPlugin",
    "PluginManager",
    "ReflectAndRetryModelPlugin",
    "ReflectAndRetryToolPlugin",
    "SaveFilesAsArtifactsPlugin",
    "ToolCallIntegrityError",
    "ToolCallIntegrityPlugin",
]

__getattr__ = lazy(
    __name__,
    {
        "BasePlugin": "base_plugin",
        "ContextFilterPlugin": "context_filter_plugin",
        "DebugLoggingPlugin": "debug_logging_plugin",
        "GlobalInstructionPlugin": "global_instruction_plugin",
        "LoggingPlugin": "logging_plugin",
        "MultimodalToolResultsPlugin": "multimodal_tool_results_plugin",
        "PluginManager": "plugin_manager",
        "ReflectAndRetryModelPlugin": "reflect_retry_model_plugin",
        "ReflectAndRetryToolPlugin": "reflect_retry_tool_plugin",
        "SaveFilesAsArtifactsPlugin": "save_files_as_artifacts_plugin",
        "ToolCallIntegrityError": "tool_call_integrity_plugin",
        "ToolCallIntegrityPlugin": "tool_call_integrity_plugin",
    },
)
