"""What is worth making: frontier scores, the skill graph, recipes and the exact choice of N actions.

Entry points: `planner.make_plan` (seeds with names), `solve.solve` (arrays), `skills.load_graph`,
`passrates.read_pass_rates`, `explain.explain`. Nothing heavy is imported here.
"""
