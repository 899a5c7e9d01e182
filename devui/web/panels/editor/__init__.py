"""Lines of agents' code opened in the editor of whoever runs the server."""
