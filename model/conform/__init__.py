"""Steps of the code, held to the specification."""
