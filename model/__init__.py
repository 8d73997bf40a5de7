"""What joins the specification and the shipped code: the engines and their command line."""
