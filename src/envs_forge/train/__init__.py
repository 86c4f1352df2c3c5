"""From environments to a better policy: estimators, evaluation, learning."""
