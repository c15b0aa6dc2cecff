"""What the page of the service shows, and the page itself: it knows no HTTP and no ledger."""
