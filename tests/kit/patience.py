"""How long a test waits for what has to come: no test is decided by how fast its machine is."""

PATIENCE = 120
"""Seconds. Only a test that fails ever waits so long."""
