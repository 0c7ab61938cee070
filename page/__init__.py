"""The Space's page: a module per tab with its fields and handlers, and modules that the tabs share."""
