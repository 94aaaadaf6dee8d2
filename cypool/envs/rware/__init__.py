"""The robotic warehouse: agents bring requested shelves to goals and return them."""
