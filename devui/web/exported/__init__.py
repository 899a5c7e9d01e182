"""A session as one HTML file, to be read without a server and without a network."""
