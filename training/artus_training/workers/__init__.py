"""Work shared by processes of this machine, or by a Ray cluster."""
