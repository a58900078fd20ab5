"""Pages and endpoints of the web server: access decides, the ledger writes, standings rank."""
