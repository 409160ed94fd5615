"""The game Artus: box, rules, observations, page. All code that depends on this game's rules is in this folder."""
