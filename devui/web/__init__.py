"""The web server: pages, APIs and streams."""
