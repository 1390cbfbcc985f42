"""Floor 6: reads results only, and says what they show."""
