"""Pictures, frames and texts of games."""
