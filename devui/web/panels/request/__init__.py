"""What was sent to a model or a tool, and how it differs from another call's request."""
