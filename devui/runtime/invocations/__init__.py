"""The parts of one invocation that the Runner puts together."""
