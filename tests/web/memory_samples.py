"""Memories: some, and none."""

from devui.web.links import memory_url
from devui.web.panels.memory.parts import MemoryItem, MemoryPanel

SOME = MemoryPanel(
    memory_url("travel"),
    "user",
    "london",
    (MemoryItem("user", "2026-11-29 10:15", "I live in London."),),
    "SqliteMemoryService",
    "Only 100 memories are shown. Search for others.",
)
NONE = MemoryPanel(memory_url("travel"), "user", "", note="Nothing is remembered of this user.")
ALL = (SOME, NONE)
