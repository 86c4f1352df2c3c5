"""The builtin learner: policy gradient with group-relative advantages on the builtin policy."""
