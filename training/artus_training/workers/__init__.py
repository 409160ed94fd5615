"""Work divided among processes of this machine, or done by a Ray cluster."""
