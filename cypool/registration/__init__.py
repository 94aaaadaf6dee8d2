"""The environments that cypool knows by id, and those ids in Gymnasium's registry."""
