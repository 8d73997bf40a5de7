"""What must stay so."""
