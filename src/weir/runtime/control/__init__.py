"""Control: the durable log of what is registered, and the changes that a user makes to a running job."""
