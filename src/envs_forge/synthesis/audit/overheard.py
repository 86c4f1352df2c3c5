"""Does the instruction speak of how it was made, to an agent that knows nothing of that?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.audit.statements import Statements, flat

_OVERHEARD = re.compile(
    r"""\b(?:
        the\ new\ environment\ (?:should|must|will|has|is|introduces|adds|requires)
      | the\ new\ task\ (?:(?:should|must|will)\ (?:introduce|add|require|test|exercise)|introduces|requires)
      | in\ the\ new\ (?:environment|task)
      | seed\ (?:environment|task|bundle|instruction)
      | (?:parent|original|previous)\ environment(?!\ (?:variable|file|setting|director))
      | (?:unlike|than|as\ in)\ the\ seed | the\ seed's | move\ the\ seed | where\ the\ agent\ learns
      | training\ environment | edit\ mask | (?:predicted|measured|expected)\ pass\ rate
      | (?:increase|diversify|reduce)/in_(?:depth|breadth) | in_depth | in_breadth
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TICKED = re.compile(r"`[^`\n]*`")
"""What the agent finds may have any name."""
_SHOWN = 3


def overheard(what: Statements, parent: Statements) -> Iterator[Finding]:
    """Words of the assignment in the instruction, unless the seed's instruction has them too."""
    text, before = flat(_TICKED.sub(" ", what.instruction)), flat(parent.instruction).lower()
    found = dict.fromkeys(match[0] for match in _OVERHEARD.finditer(text) if match[0].lower() not in before)
    if found:
        evidence = f"the instruction speaks to the agent of how the task was made: {' ; '.join(list(found)[:_SHOWN])}"
        yield Finding(AuditCode.ASSIGNMENT_IN_INSTRUCTION, evidence, "instruction.md")
