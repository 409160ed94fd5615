"""By order of the King: choose actions, ride, gather virtues, joust. All code that depends on this game's rules is in
this folder."""
