"""HTML and JSON over the ledger and the standings."""
