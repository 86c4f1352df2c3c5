"""Envs-FORGE: training environments for terminal agents, made at the edge of what a policy can do."""

__version__ = "0.1.0"
