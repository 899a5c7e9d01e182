"""Plugins: hooks around everything an app does. Names are loaded on first use."""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy

if TYPE_CHECKING:
    from devui.runtime.plugins.base_plugin import BasePlugin
    from devui.runtime.plugins.context_filter_plugin import ContextFilterPlugin
    from devui.runtime.plugins.global_instruction_plugin import GlobalInstructionPlugin
    from devui.runtime.plugins.logging_plugin import LoggingPlugin
    from devui.runtime.plugins.plugin_manager import PluginManager
    from devui.runtime.plugins.reflect_retry_tool_plugin import ReflectAndRetryToolPlugin
    from devui.runtime.plugins.save_files_as_artifacts_plugin import SaveFilesAsArtifactsPlugin

__all__ = [
    "BasePlugin",
    "ContextFilterPlugin",
    "GlobalInstructionPlugin",
    "LoggingPlugin",
    "PluginManager",
    "ReflectAndRetryToolPlugin",
    "SaveFilesAsArtifactsPlugin",
]

__getattr__ = lazy(
    __name__,
    {
        "BasePlugin": "base_plugin",
        "ContextFilterPlugin": "context_filter_plugin",
        "GlobalInstructionPlugin": "global_instruction_plugin",
        "LoggingPlugin": "logging_plugin",
        "PluginManager": "plugin_manager",
        "ReflectAndRetryToolPlugin": "reflect_retry_tool_plugin",
        "SaveFilesAsArtifactsPlugin": "save_files_as_artifacts_plugin",
    },
)
