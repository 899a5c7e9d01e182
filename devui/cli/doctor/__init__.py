"""`devui doctor`: checks the journal, the data folder, the environment and the apps."""
