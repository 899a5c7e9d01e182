"""From what is stored and running to the models of the pages."""
