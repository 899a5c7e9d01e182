"""What an app remembers of its users."""
