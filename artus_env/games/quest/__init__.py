"""By order of the King: choose actions, ride, gather virtues, joust. Everything that knows this game's rules lives in
this folder."""
