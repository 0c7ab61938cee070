"""The Space's page: a module for each place, for the picture that both draw, and for the address."""
