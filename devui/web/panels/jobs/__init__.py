"""Long work: how far exports, imports and tests are, and stopping them."""
