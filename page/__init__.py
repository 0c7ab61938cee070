"""The Space's page: modules for its two places, the picture that both draw, and the address."""
