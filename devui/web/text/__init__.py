"""Values and texts as inert HTML and as words for people."""
