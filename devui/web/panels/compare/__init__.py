"""Two sessions or runs side by side."""
