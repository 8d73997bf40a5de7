"""What it costs, beside what else one could use: `python -m bench`. Not shipped."""
