"""Help: every command in a panel, with whole sentences and two examples that its options take."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from fabopt.cli.app import app
from fabopt.cli.panels import EXAMPLES, HELP_WIDTH, PANELS
from tests.conftest import Run

ROOT: Any = get_command(app)


def tree(group: Any = ROOT, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command by its words, ``fabopt`` itself first."""
    yield words, group
    for name, command in getattr(group, "commands", {}).items():
        yield from tree(command, (*words, name))


COMMANDS = dict(tree())
NAMED = [pytest.param(words, id=" ".join(words) or "fabopt") for words in COMMANDS]


def plain(text: str) -> str:
    """Without spaces: a line may be broken after a hyphen."""
    return "".join(text.split())


@pytest.mark.parametrize("columns", [80, 100, 140])
@pytest.mark.parametrize("words", NAMED)
def test_help_is_whole(words: tuple[str, ...], columns: int, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = run(*words, "--help").out
    assert max(map(len, shown.splitlines())) <= min(columns, HELP_WIDTH)
    for command in [COMMANDS[words], *getattr(COMMANDS[words], "commands", {}).values()]:
        assert command.help.endswith(".") and plain(command.help) in plain(shown)
    for option in COMMANDS[words].params:
        assert plain(option.help or "") in plain(shown)
    for line in EXAMPLES.get(" ".join(words), ()):
        assert f"    {line}" in shown.splitlines()


def test_each_command_has_a_panel(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    named = [name for names in PANELS.values() for name in names]
    assert len(named) == len(set(named))
    assert set(ROOT.commands) <= set(named)
    lines = run("--help").out.splitlines()
    places = [lines.index(f"{title}:") for title in PANELS]
    assert places == sorted(places)
    starts = [line.split()[0] for line in lines[places[0] + 1 : places[1] - 1] if line[2] != " "]
    assert starts == [name for name in PANELS["Start"] if name in ROOT.commands]


@pytest.mark.parametrize("words", [words for words in COMMANDS if words])
def test_each_command_has_two_examples(words: tuple[str, ...]) -> None:
    examples = EXAMPLES[" ".join(words)]
    assert len(examples) == 2 and len({*examples}) == 2
    for example in examples:
        program, *arguments = shlex.split(example)
        assert program == "fabopt" and tuple(arguments[: len(words)]) == words
        parsed(ROOT, arguments)


def parsed(group: Any, arguments: list[str], parent: Any = None) -> None:
    """Take a command line apart as its command does, without running it; a wrong one raises."""
    command, rest = group.commands[arguments[0]], arguments[1:]
    if rest and not rest[0].startswith("-") and hasattr(command, "commands"):
        parsed(command, rest)
        return
    assert command.make_context(arguments[0], rest).params is not None


def test_a_wrong_example_is_seen() -> None:
    for wrong in (
        ["solve", "pod.yaml", "--jsn", "x"],
        ["quote", "audit", "x"],
        ["solve", "pod.yaml", "--time-limit", "2q"],
    ):
        with pytest.raises(Exception, match=r"option|not a time|design"):
            parsed(ROOT, wrong)
