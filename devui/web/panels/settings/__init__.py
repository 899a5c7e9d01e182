"""Settings for the next run, beside the message field."""
