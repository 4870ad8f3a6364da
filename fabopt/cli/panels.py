"""Help as people look for it: commands in panels by what they are for, each with whole sentences and two examples."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

# Panels of ``fabopt --help``, and the commands of each; those not named here are in the last one.
PANELS: dict[str, tuple[str, ...]] = {
    "Start": ("new", "cases", "solve", "show", "studio"),
    "Choose": ("pareto", "sweep", "decide", "compare", "sensitivity"),
    "Hand over": ("report", "bom", "export", "quote"),
    "Build and run": ("check", "audit", "as-built", "accept"),
    "Look up": ("explain", "catalog", "models", "schema", "formulation"),
}
HELP_WIDTH = 100
_LAST = "Look up"
# By a command's words.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "new": (
        "fabopt new",
        "fabopt new pod --server dgx-h200 --gpus 1024 --workload pretraining",
    ),
    "cases": ("fabopt cases", "fabopt cases copy hall-1024-gpus"),
    "cases show": ("fabopt cases show hall-1024-gpus", "fabopt cases show two-tier-example"),
    "cases copy": ("fabopt cases copy hall-1024-gpus", "fabopt cases copy two-tier-example cases-of-mine"),
    "solve": (
        "fabopt solve finetuning-1024-gpus --json design.json --bom bom.xlsx",
        "fabopt solve pod.yaml --time-limit 2m --price-change transceiver=-20%",
    ),
    "show": ("fabopt show design.json", "fabopt show design.json --full"),
    "studio": ("fabopt studio pod.yaml", "fabopt studio cases-of-mine --no-browser --port 8080"),
    "pareto": (
        "fabopt pareto pod.yaml",
        "fabopt pareto pod.yaml --minimize capex_usd --minimize power_w",
    ),
    "sweep": (
        "fabopt sweep pod.yaml --budget 2M:4M:5 --json sweep.json",
        "fabopt sweep pod.yaml --over servers=16,32,64 --csv sweep.csv",
    ),
    "decide": ("fabopt decide pod.yaml --html decide.html", "fabopt decide pod.yaml --rent 2.50 --size 0.5 --size 2"),
    "compare": ("fabopt compare one.json other.json", "fabopt compare front.json#1 front.json#3 --html compare.html"),
    "sensitivity": (
        "fabopt sensitivity pod.yaml --kind switch",
        "fabopt sensitivity pod.yaml --part nvidia-qm9700 --json ranges.json",
    ),
    "report": (
        "fabopt report design.json -o design.html",
        "fabopt report design.json --front front.json -o design.html",
    ),
    "bom": ("fabopt bom design.json -o bom.xlsx", "fabopt bom pod.yaml -o bom.csv --prices quote.yaml"),
    "export": (
        "fabopt export design.json --to drawing,cables,ports -o files",
        "fabopt export front.json --point 3 --to netbox -o files",
    ),
    "quote": ("fabopt quote request design.json -o requests", "fabopt quote import quote.xlsx -o book.yaml"),
    "quote import": (
        "fabopt quote import quote.xlsx -o book.yaml",
        "fabopt quote import quote.csv -o book.yaml --rate EUR=1.09 --vendor acme",
    ),
    "quote request": (
        "fabopt quote request design.json -o requests",
        "fabopt quote request design.json -o requests --vendor acme --due 2026-12-31",
    ),
    "quote audit": (
        "fabopt quote audit quote.xlsx --design design.json",
        "fabopt quote audit quote.xlsx --design design.json -o marked.xlsx",
    ),
    "check": ("fabopt check design.json", "fabopt check design.json --failures '2 leaves' --solve"),
    "audit": (
        "fabopt audit cabling.csv --as p2p",
        "fabopt audit hosts.txt --as ibnetdiscover --case pod.yaml --html audit.html",
    ),
    "as-built": (
        "fabopt as-built design.json --ibnetdiscover fabric.txt",
        "fabopt as-built design.json --lldp neighbours --findings repairs.csv",
    ),
    "accept": (
        "fabopt accept design.json all_reduce_perf.txt",
        "fabopt accept design.json run-1.txt run-2.txt --findings failures.csv",
    ),
    "explain": (
        "fabopt explain pod.yaml --why-not nvidia-sn5640",
        "fabopt explain pod.yaml --json lacking.json",
    ),
    "catalog": ("fabopt catalog list switches", "fabopt catalog show nvidia-qm9700"),
    "catalog list": ("fabopt catalog list", "fabopt catalog list servers"),
    "catalog show": ("fabopt catalog show nvidia-qm9700", "fabopt catalog show acme-t4 --catalog ./acme.yaml"),
    "catalog check": ("fabopt catalog check", "fabopt catalog check reference ./acme.yaml"),
    "models": ("fabopt models", "fabopt models llama3-70b"),
    "schema": ("fabopt schema case limits.budget_usd", "fabopt schema design -o design.schema.json"),
    "formulation": ("fabopt formulation pod.yaml -o pod.lp", "fabopt formulation pod.yaml -o pod.mps"),
}  # fmt: skip
# A paragraph that begins with this is not wrapped again.
_AS_WRITTEN = "\b\n"


class Panels(TyperGroup):
    """A group whose help lists its commands by panel, no sentence cut, and whose commands end theirs with examples."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command, its examples at the end of its help."""
        command = super().get_command(ctx, cmd_name)
        words = f"{ctx.command_path} {cmd_name}".partition(" ")[2]
        if command is not None and words in EXAMPLES:
            command.epilog = "\n".join([f"{_AS_WRITTEN}Examples:", *(f"  {line}" for line in EXAMPLES[words])])
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with their sentences, wrapped where they are longer than the line."""
        width = max(map(len, self.commands))
        for title, names in self._panels(ctx).items():
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(width), self.commands[name].help or "") for name in names])

    def _panels(self, ctx: Any) -> dict[str, list[str]]:
        if ctx.parent is not None:
            return {"Commands": list(self.commands)}
        panels = {title: [name for name in names if name in self.commands] for title, names in PANELS.items()}
        named = {name for names in panels.values() for name in names}
        panels[_LAST] += [name for name in self.commands if name not in named]
        return panels
