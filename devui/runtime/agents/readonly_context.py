"""`ReadonlyContext`, at its public place (adk-runtime 4.3)."""

from devui.runtime.agents.context import ReadonlyContext as ReadonlyContext
