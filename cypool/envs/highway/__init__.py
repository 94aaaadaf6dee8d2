"""highway-env: driving on highways, at crossings and in car parks; networks.py has the roads."""
