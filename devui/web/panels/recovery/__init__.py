"""Resume, fork, rewind and close after a run has ended early."""
