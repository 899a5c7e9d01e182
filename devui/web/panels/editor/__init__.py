"""Opens lines of agents' code in the developer's editor."""
