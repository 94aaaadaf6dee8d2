"""Pictures: sizes, stacks of frames, drawing."""
