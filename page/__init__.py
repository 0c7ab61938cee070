"""The Space's page: a module per tab, and what the tabs share."""
