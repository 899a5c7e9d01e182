"""Whether a tool may run again: what tools do, what they returned before, and who decides."""
