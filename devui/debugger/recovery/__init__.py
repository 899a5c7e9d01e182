"""Going on after an end that came too early, going back, and going another way."""
