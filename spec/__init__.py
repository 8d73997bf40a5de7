"""What must be true: one file a machine, read three ways (executed, proved, checked)."""
