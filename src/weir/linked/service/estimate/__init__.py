"""How likely what was fetched is still true: rates and phases of change that are learned, and their audit."""

from weir.linked.service.estimate.audit import Audit, Probe
from weir.linked.service.estimate.change_phases import ChangePhases
from weir.linked.service.estimate.change_rates import ChangeRates, Floats

__all__ = ["Audit", "ChangePhases", "ChangeRates", "Floats", "Probe"]
