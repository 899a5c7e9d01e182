"""Views: read a request into a value, make one call, answer."""
