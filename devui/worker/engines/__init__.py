"""The runtimes a worker can drive: ours, and later google-adk itself."""
