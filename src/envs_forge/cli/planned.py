"""What `envs-forge plan` says: choices, what they add up to, quotas with their prices, who is left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envs_forge.cli.console import say, show_table
from envs_forge.cli.livetable import k_of_n
from envs_forge.plan.explanation import Explanation, SeedExplanation
from envs_forge.plan.model import Choice, Plan, QuotaReport

SHOWN = 10
"""Most lines about quotas and about seeds that are left out; `--json` has them all."""

_BAR = 40


def show_plan(plan: Plan, explanation: Explanation) -> None:
    """A plan's choices, equal ones together, and everything that a reader may ask about them."""
    _show_choices(plan, explanation)
    say()
    _show_counts(explanation)
    say()
    _show_histogram(explanation.histogram)
    say()
    say(
        f"{plan.size} draws, objective {plan.objective:.4f}, at most {plan.absolute_gap:.2g} below the best possible "
        f"({plan.relative_gap:.1g} of ΣF); {plan.method}, {plan.seconds:.2g} s"
    )
    say(f"on average: regret {explanation.mean_regret:.4f}, chance of a mixed group {explanation.mean_mixed:.2f}")
    if plan.next_price is None:
        say("one more draw is not possible: every eligible seed is drawn as often as it may be")
    else:
        say(f"one more draw would add about {plan.next_price:.4f}")
    _show_quotas(plan.quotas)
    _show_left_out(explanation)
    for line in (*plan.notes, *_ablation(plan)):
        say(line)


def _show_choices(plan: Plan, explanation: Explanation) -> None:
    counted: dict[Choice, int] = {}
    for choice in plan.choices:
        counted[choice] = counted.get(choice, 0) + 1
    several = max(counted.values(), default=1) > 1
    sure = {(chosen.seed_id, chosen.action): chosen for chosen in explanation.chosen}
    headings = ("seed", "k/n", "action", "predicted", "F", "regret", "mixed", *(("draws",) if several else ()))
    rows = []
    for c, times in counted.items():
        more = sure[c.seed_id, str(c.action)]
        figures = (f"{c.predicted:.3f}", f"{c.frontier_score:.4f}", f"{more.regret:.4f}", f"{more.mixed:.2f}")
        rows.append((c.seed_id, k_of_n(c.k, c.n), str(c.action), *figures, *((str(times),) if several else ())))
    show_table(headings, rows, right=(1, 3, 4, 5, 6, 7))


def _show_counts(explanation: Explanation) -> None:
    counts = sorted(explanation.counts.items(), key=lambda item: (-item[1], item[0]))
    say("actions: " + ", ".join(f"{action} {count}" for action, count in counts))


def _show_histogram(bars: Sequence[int]) -> None:
    """Predicted pass rates: one line for each tenth, the longest bar as wide as the line allows."""
    say("predicted pass rates:")
    scale = max(1.0, max(bars, default=0) / _BAR)
    for index, count in enumerate(bars):
        low, high = index / len(bars), (index + 1) / len(bars)
        bar = "#" * max(round(count / scale), int(count > 0))
        say(f"  {low:.1f} to {high:.1f}  {count:>5}  {bar}".rstrip())


def _show_quotas(quotas: Sequence[QuotaReport]) -> None:
    """How many are met, and those that are short or cost something."""
    if not quotas:
        return
    short = sum(bool(quota.short) for quota in quotas)
    say()
    say(f"quotas: {len(quotas) - short} met, {short} short; a price is what one more unit would cost, in units of F")
    telling = [quota for quota in quotas if quota.short or quota.price > 0]
    telling.sort(key=lambda quota: (-quota.short, -quota.price, quota.skill))
    if telling:
        rows = [
            (q.skill, str(q.asked), str(q.required_uses), str(q.optional_uses), str(q.short), str(q.reachable),
             f"{q.price:.4f}")
            for q in telling[:SHOWN]
        ]  # fmt: skip
        headings = ("skill", "asked", "required", "optional", "short", "reachable", "price")
        show_table(headings, rows, right=(1, 2, 3, 4, 5, 6))
    _show_rest(len(telling))
    say()


def _show_left_out(explanation: Explanation) -> None:
    left_out = explanation.left_out
    if not left_out:
        return
    say("1 seed left out:" if len(left_out) == 1 else f"{len(left_out)} seeds left out, the nearest first:")
    for seed in left_out[:SHOWN]:
        say(f"  {seed.seed_id}: {seed.why}")
    _show_rest(len(left_out))


def _show_rest(count: int) -> None:
    if count > SHOWN:
        say(f"  and {count - SHOWN} more, see --json")


def _ablation(plan: Plan) -> list[str]:
    if plan.arm == "blind":
        return ["the blind arm takes seeds in random order: no measurement and no quota plays a part"]
    if plan.method in ("argmax", "greedy"):
        return [f"{plan.method} is an ablation: it falls behind the optimiser only where quotas bind"]
    return []


def show_explanation(explanation: SeedExplanation) -> None:
    """One seed's candidates, what the quotas pay for them, and the sentence about them."""
    say()
    say(f"{explanation.seed_id}, {k_of_n(explanation.k, explanation.n)}: {explanation.why}")
    rows = [
        (c.action, f"{c.predicted:.3f}", f"{c.frontier_score:.4f}", f"{sum(c.prices.values()):.4f}", f"{c.value:.4f}",
         f"{c.regret:.4f}", f"{c.mixed:.2f}", str(c.draws or ""), c.reason)
        for c in explanation.candidates
    ]  # fmt: skip
    headings = ("action", "predicted", "F", "quotas pay", "value", "regret", "mixed", "draws", "not eligible")
    show_table(headings, rows, right=(1, 2, 3, 4, 5, 6, 7))
    paid: dict[str, Mapping[str, float]] = {c.action: c.prices for c in explanation.candidates if c.prices}
    for action, prices in paid.items():
        say(f"{action} is paid for " + ", ".join(f"{skill} {price:.4f}" for skill, price in prices.items()))
