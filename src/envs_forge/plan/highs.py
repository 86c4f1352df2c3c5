"""A quiet, single-threaded, repeatable way to HiGHS: arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from envs_forge.errors import InvariantError
from envs_forge.plan.problem import Bools, Floats, Ints


@dataclass(frozen=True)
class Program:
    """`max cost·x` with `row_lower ≤ A·x ≤ row_upper`, `0 ≤ x ≤ upper`; A given as (row, column, value) triples."""

    cost: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    rows: Ints
    columns: Ints
    values: Floats
    integer: Bools | None = None
    """Which columns are integer; None: a linear program."""


@dataclass(frozen=True)
class Outcome:
    """Answer of HiGHS.

    `feasible`: there is an `x`. `optimal`: HiGHS proved that it is the best, or, without one, that there is none.
    """

    feasible: bool
    optimal: bool
    x: Floats
    row_dual: Floats
    column_dual: Floats
    objective: float
    bound: float
    nodes: int = 0


def version() -> str:
    """Version of HiGHS."""
    import highspy

    return str(highspy._Highs().version())  # type: ignore[attr-defined]


def solve(
    program: Program,
    *,
    absolute_gap: float = 0.0,
    max_nodes: int | None = None,
    start: Floats | None = None,
    lean: bool = False,
    cutoff: float | None = None,
) -> Outcome:
    """Solve a linear or mixed-integer program.

    Args:
        program: What to solve.
        absolute_gap: A mixed-integer solve may stop this close to its bound.
        max_nodes: Most nodes of the search. Limits by time would make the answer depend on the machine's load.
        start: Values of the columns to start from.
        lean: Leave out the searches inside the search: they help to find a first answer, and slow down what follows.
        cutoff: Answers of a mixed-integer program that are no better may be missed, and where all are, it counts as
            infeasible. So a bound below the cutoff means no more than the cutoff.

    Raises:
        InvariantError: HiGHS ended with neither an answer nor a proof that there is none.
    """
    solver = _configure(program.integer is not None, absolute_gap, max_nodes, lean)
    if cutoff is not None:
        # HiGHS minimises inside, so that is where the bound of an answer lies.
        solver.setOptionValue("objective_bound", -cutoff)
    solver.passModel(_model(program))
    if start is not None:
        solver.setSolution(start.size, np.arange(start.size, dtype=np.int32), start)
    solver.run()
    return _read(solver, program.integer is not None)


def _configure(integer: bool, absolute_gap: float, max_nodes: int | None, lean: bool) -> Any:
    import highspy

    # `highspy.Highs` prints a banner when it is constructed, before it can be told to be silent; its base does not.
    solver = highspy._Highs()  # type: ignore[attr-defined]
    tolerance = 1e-8 if integer else 1e-9
    options: dict[str, object] = {
        "output_flag": False,
        "threads": 1,
        "random_seed": 0,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": absolute_gap,
        "mip_allow_restart": False,
        "mip_heuristic_run_rens": not lean,
        "mip_heuristic_run_rins": not lean,
        "mip_heuristic_run_root_reduced_cost": not lean,
        "mip_feasibility_tolerance": tolerance,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
    }
    if max_nodes is not None:
        options["mip_max_nodes"] = max_nodes
    for name, value in options.items():
        solver.setOptionValue(name, value)
    return solver


def _model(program: Program) -> Any:
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = program.cost.size, program.row_lower.size
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = program.cost
    model.col_lower_ = np.zeros(program.cost.size)
    model.col_upper_ = np.where(np.isinf(program.upper), highspy.kHighsInf, program.upper)
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    order = np.lexsort((program.rows, program.columns))
    starts = np.concatenate([[0], np.cumsum(np.bincount(program.columns, minlength=program.cost.size))])
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = starts.astype(np.int32)
    model.a_matrix_.index_ = program.rows[order].astype(np.int32)
    model.a_matrix_.value_ = program.values[order]
    if program.integer is not None:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[int(flag)] for flag in program.integer]
    return model


def _read(solver: Any, integer: bool) -> Outcome:
    import highspy

    status = solver.getModelStatus()
    kinds = highspy.HighsModelStatus
    infeasible = status in (kinds.kInfeasible, kinds.kUnboundedOrInfeasible)
    info = solver.getInfo()
    found = not infeasible and info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if not found and not infeasible and not integer:
        raise InvariantError(f"HiGHS ended without an answer: {solver.modelStatusToString(status)}")
    answer = solver.getSolution()
    return Outcome(
        feasible=found,
        optimal=infeasible or status == kinds.kOptimal,
        x=np.asarray(answer.col_value, dtype=np.float64),
        row_dual=np.asarray(answer.row_dual, dtype=np.float64),
        column_dual=np.asarray(answer.col_dual, dtype=np.float64),
        objective=float(info.objective_function_value),
        bound=float(info.mip_dual_bound if integer else info.objective_function_value),
        nodes=max(0, int(info.mip_node_count)),
    )
