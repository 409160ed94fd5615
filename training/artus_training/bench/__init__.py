"""Speed: of every interface, of the trainers, and beside busy neighbours."""
