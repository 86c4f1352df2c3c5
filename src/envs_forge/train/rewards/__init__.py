"""Rewards of what a policy did, each first obtained in a real container."""
