"""Times of a step, or of a service, with the network's own latency, counted again from the paths of the design."""

from __future__ import annotations

from fractions import Fraction

from fabopt.problem.demand import case_service, case_workload, parts_of, runs_of, services_of
from fabopt.schema.prediction import ServingUse, WorkloadUse
from fabopt.units import NS_PER_US, plain_fraction
from fabopt.verify.evidence import Evidence
from fabopt.verify.jobs import RecountedService
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.steps import RecountedStep
from fabopt.verify.workload import fabric_named, network_on
from fabopt.wiring.latency import paths_by_place
from fabopt.workload.on_paths import PlacePath, on_paths, service_times, step_times
from fabopt.workload.prediction import Prediction, seconds


def has_own_latency(evidence: Evidence) -> bool:
    """Whether the file says what its own latency makes of a step, or of what users wait for."""
    design = evidence.design
    return any(use is not None and use.on_paths is not None for use in (design.workload, design.serving))


@since("0.3.0", "workload.on_paths", "serving.on_paths")
@where(has_own_latency)
def own_latency_is_recounted(proof: Proof, evidence: Evidence) -> None:
    """Times with the network's own latency are those of the design's paths.

    One way over the switches and cables to a server on the leaf, in the pod and farthest away, in place of what
    constants count; ranks are dealt one by one. Source: docs/workloads.md; catalog, ``facts.latency``.
    """
    for use in (evidence.design.workload, evidence.design.serving):
        if use is not None and use.on_paths is not None:
            fabric = fabric_named(evidence, use.needs.fabric)
            paths = paths_by_place(evidence, fabric.designed)
            by_place = {path.place: plain_fraction(path.ns / NS_PER_US, 6) for path in paths}
            proof.equal("one_way_us", use.on_paths.one_way_us, by_place)
            proof.equal("unknown", {*use.on_paths.unknown}, {part for path in paths for part in path.unknown})
            _times_are_of_paths(proof, evidence, use, paths)


def _times_are_of_paths(
    proof: Proof, evidence: Evidence, use: WorkloadUse | ServingUse, paths: tuple[PlacePath, ...]
) -> None:
    """All times follow from the paths, seconds also from ranks dealt one by one."""
    network, case, server = (
        network_on(evidence, fabric_named(evidence, use.needs.fabric)),
        evidence.case,
        evidence.server,
    )
    own, told = on_paths(network, paths), use.on_paths
    workload, service = case_workload(case, server), case_service(case, server)
    counted: tuple[int | float, ...]
    if isinstance(use, WorkloadUse):
        assert workload is not None
        runs, parts = runs_of(case, server, workload), parts_of(case, server)
        again = step_times(Prediction(workload, network, None, None, runs, (), parts, services_of(case, server)), paths)
        counted = (seconds(RecountedStep(workload, own).step_s),)
        stated: tuple[int | float | None, ...] = (again.step_s,)
    else:
        assert service is not None
        again = service_times(service, network, paths)
        counted = tuple(map(seconds, RecountedService(service).waits_s(own) or (Fraction(10**9),) * 2))
        stated = again.ttft_s, again.tpot_s
    proof.equal("on_paths", told, again)
    proof.equal("times counted again", stated, (None,) * len(counted) if again.unknown else counted)
    proof.note(f"{', '.join(map(str, stated))} s")
