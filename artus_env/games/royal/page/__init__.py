"""What people see of the game: pictures, sentences, hints, a tutorial, and what its script in the browser gets."""
