"""Shingles and MinHash."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.synthesis.overlap.renaming import renaming_of
from envs_forge.synthesis.overlap.shingles import PLACES, containment, jaccard, shingles_of, signature_of, words_of

WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=60)


@given(WORDS, WORDS)
def test_jaccard_is_that_of_the_sets_of_runs(a, b):
    def runs(words):
        size = min(3, len(words))
        return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} if words else set()

    union = runs(a) | runs(b)
    expected = len(runs(a) & runs(b)) / len(union) if runs(a) and runs(b) else 0.0
    assert jaccard(shingles_of(a, 3), shingles_of(b, 3)) == pytest.approx(expected)


@settings(max_examples=25)
@given(st.integers(50, 400), st.floats(0, 1), st.integers(0, 10**6))
def test_signatures_estimate_jaccard(size, share, number):
    dice = np.random.default_rng(number)
    common = int(size * share)
    values = dice.integers(0, 2**63, 2 * size - common, dtype=np.uint64)
    a, b = np.unique(values[:size]), np.unique(values[size - common :])
    exact = jaccard(a, b)
    estimated = float((signature_of(a) == signature_of(b)).mean())
    assert abs(estimated - exact) < 5 * np.sqrt(0.25 / PLACES)


def test_fingerprints_are_the_same_in_every_process():
    code = (
        "from envs_forge.synthesis.overlap.shingles import *;"
        "print(signature_of(shingles_of(words_of('one two three four'), 2)).sum())"
    )
    here = signature_of(shingles_of(words_of("one two three four"), 2)).sum()
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(other) == int(here)


def test_a_short_text_is_one_shingle_and_an_empty_one_has_none():
    assert len(shingles_of(["a", "b"], 5)) == 1
    assert len(shingles_of([], 5)) == 0
    assert jaccard(shingles_of([], 5), shingles_of([], 5)) == 0.0


def test_words_know_no_case_and_keep_signs():
    assert words_of("Keep `A_b` > 3.") == ["keep", "`", "a_b", "`", ">", "3", "."]


@pytest.mark.parametrize(
    ("new", "share"),
    [
        ("sort the file of sales by amount and keep five", 1.0),
        ("sort the file of orders by amount and keep five", 1.0),
        ("sort the file of orders by price and keep five", 1.0),
        ("sort the file of orders by amount and keep 5", 0.9),
        ("merge a tree with others in place", 0.0),
        ("", 0.0),
    ],
)
def test_a_consistent_change_of_names_is_no_change(new, share):
    old = "sort the file of sales by amount and keep five"
    assert renaming_of(old.split(), new.split()).share == pytest.approx(share, abs=0.03)


def test_one_name_for_two_is_no_renaming():
    old = ["a", "x", "b", "y", "c"]
    assert renaming_of(old, ["a", "q", "b", "q", "c"]).share == pytest.approx(4 / 5)


def test_what_is_added_does_not_hide_what_is_found_again():
    old = words_of("sort the file of sales by amount")
    seen = renaming_of(old, words_of("sort the file of orders by amount and be glad of any help with it"))
    assert seen.found == 1.0
    assert seen.share < 0.6
    assert seen.names == {"sales": "orders"}


def test_containment_is_the_share_of_the_old():
    one, both = shingles_of("abcdefg", 3), shingles_of("abcdefgxyz", 3)
    assert containment(one, both) == 1.0
    assert containment(both, one) == pytest.approx(5 / 8)
    assert containment(shingles_of([], 3), one) == 1.0
