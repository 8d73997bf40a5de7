"""Systematic mutants that behave as the original does, each with the reason. One that is killed is no such."""

from __future__ import annotations

NOTHING = "The statement is the last of its function and returns None, as a function does that has come to its end."
FALSE = (
    "The statement returns False at the end of its function; None, which is returned then, is as false to the caller."
)
WHEN = (
    "It moves the number of forgotten entries at which an index is built anew. An index holds no live job more or less "
    "for that, so that no decision changes, and the number still grows with the live jobs alone."
)
SAVED = "The two branches agree where they meet: {}."

EQUIVALENT: dict[str, str] = {
    "core.Core._compact:Add_Sub.0": WHEN,
    "core.Core._compact:Add_Sub.1": WHEN,
    "core.Core._compact:Gt_GtE.0": WHEN,
    "core.Core._compact:Gt_GtE.1": WHEN,
    "core.Core._compact:NumberReplacer.0": WHEN,
    "core.Core._compact:NumberReplacer.2": WHEN,
    "core.Core._compact:NumberReplacer.3": WHEN,
    "core.Core._compact:NumberReplacer.4": WHEN,
    "core.Core._compact:NumberReplacer.6": WHEN,
    "core.Core._compact:NumberReplacer.7": WHEN,
    "core.Core._vacate:DropStatement.6": NOTHING,
    "worker.Controller._alarm:DropStatement.6": NOTHING,
    "worker.Controller._doubt:DropStatement.6": NOTHING,
    "probe._met_itself:DropStatement.1": FALSE,
    "autoscale.savings_permil:GtE_Gt.0": SAVED.format(
        "a warm time of the whole window saves 0 * 1000 // window, which is 0"
    ),
    "autoscale.savings_permil:LtE_Lt.1": SAVED.format("a warm time of 0 saves window * 1000 // window, which is 1000"),
    "autoscale.savings_permil:NumberReplacer.5": SAVED.format(
        "a warm time of 0 saves window * 1000 // window, which is 1000"
    ),
}
