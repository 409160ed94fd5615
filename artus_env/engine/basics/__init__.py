"""Basics for all other folders: checks of arguments, reading and writing of files, wording of messages."""
