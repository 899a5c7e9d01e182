"""Executes a recorded run again, with the recorded answers of its models and tools."""
