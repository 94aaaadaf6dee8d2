"""Registered environments by id, in cypool's and in Gymnasium's registry."""
