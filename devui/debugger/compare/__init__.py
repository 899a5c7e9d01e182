"""Two sessions or runs beside each other: what belongs together, and what of it differs."""
