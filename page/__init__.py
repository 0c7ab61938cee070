"""The Space's page: a module for each place, for the picture both draw, and for the address."""
