"""What every room needs: checks of what is handed in, files, and words of messages."""
