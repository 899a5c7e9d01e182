"""Tags of sessions."""
