"""`devui doctor`: looks at the journal, the data folder, the environment and the apps."""
