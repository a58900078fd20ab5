"""HTML: each page asks ``access`` what may be seen, reads, and renders a template. Writes go through the ledger."""
