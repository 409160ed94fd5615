"""Speed measurements: of every interface, of the trainers, and next to busy processes."""
