"""highway-env: driving on highways, at intersections and in parking lots; networks.py defines the roads."""
