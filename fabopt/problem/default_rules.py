"""Default rules of one fabric: those that hold, those that yield, and what some of them need to know."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.parts.switches import SwitchType
from fabopt.problem.attachments import SubnetManagers
from fabopt.problem.generations import Generations
from fabopt.rules.defaults import ONE_GENERATION, SUBNET_MANAGER


@dataclass(frozen=True)
class DefaultRules:
    """Default rules that a fabric keeps, and those that it leaves out.

    ``managers``: how its subnets of InfiniBand are managed, None where that rule does not hold; ``generations``: tiers
    between which rule ``one-generation`` leaves switches out, None where it leaves out none.
    """

    kept: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    managers: SubnetManagers | None = None
    generations: Generations | None = None

    @property
    def binding_managers(self) -> SubnetManagers | None:
        """Rule ``subnet-manager``, where designs have to keep it."""
        managers = self.managers
        binds = managers is not None and (managers.is_asked_for or SUBNET_MANAGER in self.kept)
        return managers if binds else None

    @property
    def binding_generations(self) -> Generations | None:
        """Rule ``one-generation``, if it binds the designs of this fabric; else None."""
        generations = self.generations
        binds = generations is not None and (generations.is_asked_for or ONE_GENERATION in self.kept)
        return generations if binds else None

    def are_of_one_generation(self, **switches: SwitchType) -> bool:
        """Whether rule ``one-generation`` allows these switches, by name of tier, in one design."""
        generations = self.binding_generations
        return generations is None or generations.clash({role: one.product for role, one in switches.items()}) is None


NO_DEFAULT_RULES = DefaultRules()
