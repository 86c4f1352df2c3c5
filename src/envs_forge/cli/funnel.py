"""The funnel of synthesis as text: what was attempted, what became of it, what it cost."""

from __future__ import annotations

from collections import Counter

from envs_forge.cli.console import say, show_table
from envs_forge.ledger.totals import TokenTotals
from envs_forge.run.summary import FunnelRow, SynthesisSummary


def show_funnel(found: SynthesisSummary) -> None:
    """A row an action, then the reasons of rejections, the commonest first."""
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
    say(spending(found))


def spending(found: SynthesisSummary) -> str:
    """What synthesis cost, in one line."""
    ratio = "" if found.attempts_per_accepted is None else f", {found.attempts_per_accepted:.2f} attempts per accepted"
    each = "" if found.tokens_per_accepted is None else f", {found.tokens_per_accepted:,.0f} tokens per accepted"
    lost = f"; {found.lost} requests were perhaps paid and not counted, at most {found.lost_tokens:,} tokens"
    return (
        f"synthesis: {found.records} accepted of {found.attempts} attempts{ratio}, {found.tokens:,} tokens{each}, "
        f"{dollars(found.usd)}{lost if found.lost else ''}"
    )


def usage(used: TokenTotals) -> str:
    """The calls of one role, in one line."""
    cached = f" ({used.cached_tokens:,} cached)" if used.cached_tokens else ""
    reasoning = f" ({used.reasoning_tokens:,} reasoning)" if used.reasoning_tokens else ""
    lost = f", {used.lost} not counted" if used.lost else ""
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
