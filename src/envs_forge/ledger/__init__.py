"""The ledger: every trial, plan, attempt, verdict, decision and model call of a run, once each, never changed."""
