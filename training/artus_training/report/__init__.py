"""The command `artus tournament`, and its report: on the terminal, as a page, as JSON."""
