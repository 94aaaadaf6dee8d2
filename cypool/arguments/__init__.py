"""Arguments of calls: actions and ids of environments, checked and converted to the engine's."""
