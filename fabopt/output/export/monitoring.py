"""Monitoring of a fabric: an alarm of Prometheus for each planned link, tests of these rules, and gNMI subscriptions.

Sources of a port's state: of Linux switches node_exporter (``node_network_up``), of EOS gNMI through gnmic, of servers
the RDMA device (``node_infiniband_physical_state_id``, 5 is up), of InfiniBand the exporter that runs
``ibnetdiscover`` (``infiniband_switch_uplink_info`` exists for each port with a link).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fabopt.operate.infiniband import subnets_among
from fabopt.operate.model import INFINIBAND, SWITCHES, NamedDevice, NamedLink, NamedPort, OperationPlan
from fabopt.output.export.formats import Content, Exported, Files
from fabopt.output.export.lines import head_lines, json_rows, yaml_list
from fabopt.units import some

FOLDER = "monitoring"
OWN_FILES = r"targets\.json|rules\.yml|rules\.test\.yml|prometheus\.yml|gnmic\.yml"
TARGETS, RULES, TESTS, CONFIG, GNMIC = "targets.json", "rules.yml", "rules.test.yml", "prometheus.yml", "gnmic.yml"
ALARM, UP = "FabricLinkDown", "fabric_port_up"
# Of a port of an RDMA device: its link is up.
RDMA_UP = 5
NODE_PORT, GNMIC_PORT, INFINIBAND_PORT = 9100, 9804, 9315
# Where systems listen for gNMI unless they are told otherwise; node_exporter runs on those of Linux.
GNMI_PORTS = {"cumulus": 9339, "eos": 6030, "sonic": 8080}
LINUX = ("cumulus", "sonic")
Row = Mapping[str, object]


def files_of(asked: Exported) -> Files:
    """Return ``monitoring/``; ``gnmic.yml`` only where a switch speaks gNMI."""
    design, plan = asked.design, asked.plan
    switched = [fabric for fabric in design.fabrics if fabric.protocol == INFINIBAND and fabric.structure.has_switches]
    subnets = list(subnets_among(design, plan, switched, None)) if switched else []
    subnet_of = {link.row: subnet.name for subnet in subnets for link in subnet.links}
    files: dict[str, Content] = {
        TARGETS: target_lines(plan),
        RULES: rule_lines(plan, subnet_of),
        TESTS: test_lines(plan, subnet_of),
        CONFIG: config_lines(plan, [subnet.name for subnet in subnets]),
    }
    if any(device.system in GNMI_PORTS for device in plan.devices):
        files[GNMIC] = gnmic_lines(plan)
    return files


# -- what is scraped ------------------------------------------------------------------------------------------------


def target_lines(plan: OperationPlan) -> Iterator[str]:
    """Yield the devices that node_exporter runs on: servers, and switches with Linux."""
    rows = [_target(device) for device in plan.devices if device.role == "server" or device.system in LINUX]
    yield "["
    yield from json_rows(rows)
    yield "]"


def _target(device: NamedDevice) -> Row:
    labels = {"node": device.name, "role": device.role, "fabric": device.fabric, "rack": device.rack}
    known = {key: value for key, value in labels.items() if value}
    return {"targets": [f"{device.management}:{NODE_PORT}"], "labels": known}


def config_lines(plan: OperationPlan, subnets: Sequence[str]) -> Iterator[str]:
    """Yield a configuration of Prometheus; gnmic and exporters of subnets run beside it."""
    yield from head_lines(plan, ". Proven by: promtool check config")
    yield "global: {scrape_interval: 15s, evaluation_interval: 15s}"
    yield f"rule_files: [{RULES}]"
    yield "scrape_configs:"
    yield f"- {{job_name: nodes, file_sd_configs: [{{files: [{TARGETS}]}}]}}"
    if any(device.system in GNMI_PORTS for device in plan.devices):
        yield f'- {{job_name: gnmic, static_configs: [{{targets: ["localhost:{GNMIC_PORT}"]}}]}}'
    if subnets:
        yield "- job_name: infiniband"
        yield "  static_configs:"
        for number, name in enumerate(subnets):
            yield f'  - {{targets: ["localhost:{INFINIBAND_PORT + number}"], labels: {{subnet: {json.dumps(name)}}}}}'


# States of ports as numbers, and where Prometheus reads all that gnmic has.
_TO_PROMETHEUS = f"""\
processors:
  states-as-words:
    event-strings:
      value-names: ["oper-status$"]
      transforms:
      - replace: {{apply-on: value, old: "^UP$", new: "1"}}
      - replace: {{apply-on: value, old: "^[A-Z].*", new: "0"}}
  states-as-numbers:
    event-convert: {{value-names: ["oper-status$"], type: int}}
outputs:
  prometheus:
    type: prometheus
    listen: ":{GNMIC_PORT}"
    event-processors: [states-as-words, states-as-numbers]"""


def gnmic_lines(plan: OperationPlan) -> Iterator[str]:
    """Yield subscriptions of gnmic: states of ports as they change, counters of ports and queues every ten seconds."""
    yield from head_lines(plan, f". Proven by: gnmic --config {GNMIC} subscribe")
    yield "# Who may log in is set where it runs: GNMIC_USERNAME, GNMIC_PASSWORD, and certificates."
    yield "targets:"
    for device in plan.devices:
        if device.system in GNMI_PORTS:
            yield f'  {json.dumps(device.name)}: {{address: "{device.management}:{GNMI_PORTS[device.system]}"}}'
    yield "subscriptions:"
    yield "  states: {paths: [/interfaces/interface/state/oper-status], mode: stream, stream-mode: on-change}"
    for name, path in (("ports", "/interfaces/interface/state/counters"), ("queues", "/qos/interfaces")):
        yield f"  {name}: {{paths: [{path}], mode: stream, stream-mode: sample, sample-interval: 10s}}"
    yield _TO_PROMETHEUS


# -- rules ----------------------------------------------------------------------------------------------------------


def rule_lines(plan: OperationPlan, subnet_of: Mapping[int, str]) -> Iterator[str]:
    """Yield an alarm for each link, in groups by the device of its far end, and one for silent devices."""
    yield from head_lines(plan, f". Proven by: promtool test rules {TESTS}")
    yield from (f"# {note}" for note in _unknown_systems(plan))
    yield "groups:"
    device = -1
    for link in sorted(plan.links, key=lambda link: link.b.device):
        if link.b.device != device:
            device = link.b.device
            yield f"- name: {json.dumps(f'links of {plan.device_at[device].name}')}"
            yield "  rules:"
        yield f"  - {json.dumps(_alarm(plan, link, subnet_of.get(link.row, '')))}"
    yield "- name: devices"
    yield "  rules:"
    silent = {"alert": "DeviceSilent", "expr": 'up{node!=""} == 0', "for": "5m", "labels": {"severity": "warning"}}
    yield f"  - {json.dumps(silent)}"


def _unknown_systems(plan: OperationPlan) -> Iterator[str]:
    """Sentences on switches of unknown software: whoever records ``UP`` names their ports."""
    unknown = Counter(device.product for device in plan.devices if device.role in SWITCHES and not device.system)
    for product, number in unknown.items():
        yield f"What runs on {product} ({some(number, 'switch')}) is not known: record {UP}{{node, port}} of its ports."


def _alarm(plan: OperationPlan, link: NamedLink, subnet: str) -> Row:
    return {
        "alert": ALARM, "expr": _down_expression(plan, link, subnet), "for": "1m",
        "labels": {"severity": "critical", **_labels(plan, link)}, "annotations": {"summary": _summary(plan, link)},
    }  # fmt: skip


def _labels(plan: OperationPlan, link: NamedLink) -> dict[str, str]:
    labels = {"a": _end(plan, link.a), "z": _end(plan, link.b), "network": link.network, "cable": link.cable}
    return {key: value for key, value in labels.items() if value}


def _end(plan: OperationPlan, port: NamedPort) -> str:
    return f"{plan.device_at[port.device].name} {port.name}"


def _summary(plan: OperationPlan, link: NamedLink) -> str:
    return f"{_end(plan, link.a)} - {_end(plan, link.b)} ({link.cable or 'supplied by others'}) is down"


def _down_expression(plan: OperationPlan, link: NamedLink, subnet: str) -> str:
    """Expression for a link that is down: if either end says so; in a subnet, if its exporter works and sees no link at
    the port.
    """
    if subnet:
        switch = link.a if plan.device_at[link.a.device].role in SWITCHES else link.b
        return f'up{{job="infiniband",subnet="{subnet}"}} == 1 unless on () {_uplink(plan, switch)}'
    return f"min({' or '.join(_port_state(plan, end) for end in (link.a, link.b))}) == 0"


def _port_state(plan: OperationPlan, port: NamedPort) -> str:
    """Expression for the state of a port: 1 up, 0 down."""
    is_device = plan.device_at[port.device].role == "server" and port.name != port.port
    return f"({_source(plan, port)} == bool {RDMA_UP})" if is_device else _source(plan, port)


def _uplink(plan: OperationPlan, port: NamedPort) -> str:
    return f'infiniband_switch_uplink_info{{switch="{plan.device_at[port.device].name}",port="{port.name}"}}'


# -- tests of the rules ---------------------------------------------------------------------------------------------


def test_lines(plan: OperationPlan, subnet_of: Mapping[int, str]) -> Iterator[str]:
    """Yield tests: all links up, all down, one end down, a port down without a planned link, silence."""
    yield from head_lines(plan, f". Proven by: promtool test rules {TESTS}")
    yield f"rule_files: [{RULES}]"
    yield "evaluation_interval: 2m"
    yield "tests:"
    links = plan.links
    yield from _case("every link is up", _exporters(subnet_of, "1") + _states(plan, links, subnet_of, "1"), [])
    rows = [_expected(plan, link, subnet_of.get(link.row, "")) for link in links]
    yield from _case("every link is down", _exporters(subnet_of, "1") + _states(plan, links, subnet_of, "0"), rows)
    yield from _case("nothing is known of any link", _exporters(subnet_of, "0"), [])
    stray = [f'node_network_up{{node="{plan.device_at[links[0].b.device].name}",device="unplanned"}}']
    yield from _case("a port without a link is down", [(name, "0") for name in stray], [])
    first = next((link for link in links if link.row not in subnet_of), None)
    if first is not None:
        states = [_state(plan, first.a, "1"), _state(plan, first.b, "0")]
        yield from _case("one end of a link is down", states, [_expected(plan, first, "")])


def _case(name: str, series: Iterable[tuple[str, str]], expected: Sequence[Row]) -> Iterator[str]:
    yield f"- name: {name}"
    yield "  interval: 1m"
    rows = ({"series": series_name, "values": f"{value}+0x2"} for series_name, value in series)
    yield from yaml_list("input_series", map(json.dumps, rows), "  ")
    yield f"  alert_rule_test:\n  - eval_time: 2m\n    alertname: {ALARM}"
    yield from yaml_list("exp_alerts", map(json.dumps, expected), "    ")


def _exporters(subnet_of: Mapping[int, str], value: str) -> list[tuple[str, str]]:
    return [(f'up{{job="infiniband",subnet="{name}"}}', value) for name in dict.fromkeys(subnet_of.values())]


def _states(
    plan: OperationPlan, links: Iterable[NamedLink], subnet_of: Mapping[int, str], value: str
) -> list[tuple[str, str]]:
    """Series of links that are up (1) or down (0): none for down links in subnets."""
    states = []
    for link in links:
        if link.row not in subnet_of:
            states += [_state(plan, end, value) for end in (link.a, link.b)]
        elif value == "1":
            states.append((_uplink(plan, link.a if plan.device_at[link.a.device].role in SWITCHES else link.b), value))
    return states


def _state(plan: OperationPlan, port: NamedPort, value: str) -> tuple[str, str]:
    """The series of a port that is up (1) or down (0)."""
    series = _source(plan, port)
    return series, str(RDMA_UP) if _port_state(plan, port) != series and value == "1" else value


def _source(plan: OperationPlan, port: NamedPort) -> str:
    """The series with the state of a port: by the software of its device."""
    device = plan.device_at[port.device]
    if device.role == "server" and port.name != port.port:
        return f'node_infiniband_physical_state_id{{node="{device.name}",device="{port.name}"}}'
    if device.system == "eos":
        return f'interfaces_interface_state_oper_status{{source="{device.name}",interface_name="{port.name}"}}'
    if device.system in LINUX:
        return f'node_network_up{{node="{device.name}",device="{port.name}"}}'
    return f'{UP}{{node="{device.name}",port="{port.name}"}}'


def _expected(plan: OperationPlan, link: NamedLink, subnet: str) -> Row:
    labels = {"severity": "critical", **_labels(plan, link)}
    if subnet:
        labels |= {"job": "infiniband", "subnet": subnet}
    return {"exp_labels": labels, "exp_annotations": {"summary": _summary(plan, link)}}
