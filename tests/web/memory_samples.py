"""The memory panel with and without memories."""

from devui.web.links import memory_url
from devui.web.panels.memory.parts import MemoryItem, MemoryPanel

SOME = MemoryPanel(
    memory_url("travel"),
    "user",
    "london",
    (MemoryItem("user", "2026-11-29 10:15", "I live in London."),),
    "SqliteMemoryService",
    "Showing 100 memories. Search to find others.",
)
NONE = MemoryPanel(memory_url("travel"), "user", "", note="No memories of this user yet.")
ALL = (SOME, NONE)
