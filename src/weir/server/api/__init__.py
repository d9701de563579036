"""The HTTP API: routes, what each request passes before them, and the shapes of answers."""
