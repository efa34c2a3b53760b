"""Signing in at servers: the network and its errors, secrets, tokens, HTTP, and where an account is."""
