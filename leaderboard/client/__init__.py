"""The submitter's command line. Standard library only; imports nothing of the server's."""
