"""The engines that a worker can drive: devui's own runtime, and google-adk."""
