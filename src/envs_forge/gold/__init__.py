"""Gold verification: a bundle is accepted only when nothing cheaper than its oracle is rewarded, and the oracle is."""
