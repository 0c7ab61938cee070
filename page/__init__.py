"""The Space's page: a module per tab with its fields and handlers, and what the tabs share."""
