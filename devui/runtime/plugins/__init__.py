"""Plugins: hooks around everything an app does."""

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.plugins.plugin_manager import PluginManager

__all__ = ["BasePlugin", "PluginManager"]
