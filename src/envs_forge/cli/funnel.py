"""The funnel of synthesis as text: what was attempted, what became of it, what it cost."""

from __future__ import annotations

from collections import Counter

from envs_forge.cli.console import say, show_table
from envs_forge.ledger.totals import TokenTotals
from envs_forge.run.summary import FunnelRow, SynthesisSummary


def show_funnel(found: SynthesisSummary, *, in_use: bool = False) -> None:
    """A row an action, then the reasons of rejections, the commonest first. `in_use`: the run goes on."""
    say()
    show_table(
        ("recipe", "action", "attempts", "repairs", "accepted", "mended", "attempts/accepted", "tokens/attempt"),
        [_cells(row) for row in found.rows],
        right=(2, 3, 4, 5, 6, 7),
    )
    reasons: Counter[str] = Counter()
    for row in found.rows:
        reasons.update(row.rejections)
    for reason, count in reasons.most_common():
        say(f"  {count:4} {reason}")
    say(spending(found, in_use=in_use))


def spending(found: SynthesisSummary, *, in_use: bool = False) -> str:
    """What synthesis cost, in one line. `in_use`: the run goes on."""
    ratio = "" if found.attempts_per_accepted is None else f", {found.attempts_per_accepted:.2f} attempts per accepted"
    each = "" if found.tokens_per_accepted is None else f", {found.tokens_per_accepted:,.0f} tokens per accepted"
    fate = "under way or perhaps paid" if in_use else "perhaps paid and not counted"
    lost = f"; requests {fate}: {found.lost}, at most {found.lost_tokens:,} tokens, {dollars(found.lost_usd)}"
    return (
        f"synthesis: {found.records} accepted of {found.attempts} attempts{ratio}, {found.tokens:,} tokens{each}, "
        f"{dollars(found.usd)}{lost if found.lost else ''}"
    )


def usage(used: TokenTotals, *, in_use: bool = False) -> str:
    """The calls of one role, in one line. `in_use`: the run goes on."""
    cached = f" ({used.cached_tokens:,} cached)" if used.cached_tokens else ""
    reasoning = f" ({used.reasoning_tokens:,} reasoning)" if used.reasoning_tokens else ""
    fate = "under way or not counted" if in_use else "not counted"
    most = "cost not known" if used.lost_usd is None else f"at most {dollars(used.lost_usd)}"
    lost = f", {used.lost} {fate} ({most})" if used.lost else ""
    return (
        f"{used.calls} calls, {used.prompt_tokens:,}{cached} + {used.completion_tokens:,}{reasoning} tokens, "
        f"{dollars(used.cost_usd)}{lost}"
    )


def dollars(usd: float | None) -> str:
    """Money; a price that is not known is not free."""
    return "cost not known" if usd is None else f"${usd:.4f}"


def _cells(row: FunnelRow) -> tuple[str, ...]:
    ratio = "–" if row.attempts_per_accepted is None else f"{row.attempts_per_accepted:.2f}"
    each = f"{row.tokens / row.attempts:,.0f}" if row.attempts else "–"
    counts = (row.attempts, row.repairs, row.accepted, row.mended)
    return (row.recipe, row.action, *map(str, counts), ratio, each)
