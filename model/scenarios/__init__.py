"""Cases from public reports, a line each."""
