"""Whether a tool that has run may run once more: what tools do, what they returned, who decides."""
