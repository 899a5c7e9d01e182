"""The comparison of two sessions or runs: which events correspond, and how they differ."""
