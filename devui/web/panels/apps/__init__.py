"""Apps: the start page, one app with its sessions, and lists of sessions."""
