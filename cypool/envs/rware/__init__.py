"""The robotic warehouse: agents that bring requested shelves to goals, and back."""
