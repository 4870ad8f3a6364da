"""What MkDocs does not do by itself: pages that are put together, and the proof that the site stands alone.

The first page is the README, so that it is written once. The Python reference has a page for each room of the map in
CONTRIBUTING.md, the reference of the commands is what they say of themselves.
"""

from __future__ import annotations

import os
import posixpath
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
# Pages at the top of the repository, and what they are called here.
OUTSIDE = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "map.md", "LICENSE": "LICENSE",
           "SECURITY.md": "security.md"}  # fmt: skip
INSTEAD = {"docs/README.md": "index.md", "docs/decisions": "decisions/index.md"}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
# What arithmatex makes of a formula between dollar signs.
FORMULA = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<formula>.+?)\\[)\]]</(?P=tag)>', re.DOTALL)
CELL = re.compile(r"<td.*?</td>", re.DOTALL)
NAME = re.compile(r"<code>[\w.]+</code>")
# A command in a list of commands, where what it does is cut short; its own section follows.
CUT_SHORT = re.compile(r"^(\* `[a-z][\w-]*`): .*$", re.MULTILINE)
# Attributes by which a page loads something when it is viewed; links that a reader clicks are none of them.
LOADED = {
    **dict.fromkeys(("script", "img", "iframe", "source", "video", "audio"), ("src", "srcset", "data", "poster")),
    "embed": ("src",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
LOADING_LINKS = {"stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload", "icon", "manifest"}
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


# -- pages that are put together ------------------------------------------------------------------------------------


def rooms() -> list[tuple[str, str]]:
    """The rooms of the map, in order, each with what it is for."""
    block = (ROOT / "CONTRIBUTING.md").read_text().partition("## Map")[2].split("```")[1]
    return [(name, words) for name, words in re.findall(r"^(\w+) +(.+)$", block, re.MULTILINE) if name != "__main__"]


def room_page(name: str, words: str) -> str:
    """A page of the Python reference: a room with all its modules."""
    return f"# {name}\n\n{words[0].upper()}{words[1:]}.\n\n::: fabopt.{name}\n"


def commands_page() -> str:
    """All commands with their options, as ``--help`` tells them."""
    from typer import Context
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    from fabopt.cli.app import app

    command = get_command(app)
    text = get_docs_for_click(obj=command, ctx=Context(command, info_name="fabopt"), name="fabopt", title="Commands")
    return CUT_SHORT.sub(r"\1", text)


def decisions() -> list[Path]:
    """The pages on decisions, the oldest first."""
    return sorted((ROOT / "docs" / "decisions").glob("*.md"))


def decisions_page() -> str:
    """A list of all decisions."""
    lines = [f"- [{path.read_text().splitlines()[0].removeprefix('# ')}]({path.name})" for path in decisions()]
    return "\n".join(["# Decisions", "", "Why things are as they are, one page each.", "", *lines, ""])


def formulation_pages() -> list[str]:
    """The formulation and its parts, in the order of its list of pages."""
    text = (ROOT / "docs" / "formulation.md").read_text()
    named = re.findall(r"\]\((formulation/[\w-]+\.md)", text.partition("## The pages")[2])
    return ["formulation.md", *dict.fromkeys(named)]


def lists() -> dict[str, list[str]]:
    """What the words in capitals of the navigation stand for."""
    return {
        "FORMULATION": formulation_pages(),
        "DECISIONS": ["decisions/index.md", *(f"decisions/{path.name}" for path in decisions())],
        "PYTHON": ["reference/fabopt.md", *(f"reference/{name}.md" for name, _ in rooms())],
    }


def navigation(entry: Any) -> Any:
    """The navigation of mkdocs.yml, with words in capitals replaced by lists of pages."""
    match entry:
        case str():
            return lists().get(entry, entry)
        case dict():
            return {title: navigation(inner) for title, inner in entry.items()}
        case list():
            return [navigation(inner) for inner in entry]


def generated_pages() -> dict[str, str]:
    """Pages that no file has, with their text."""
    return {
        "decisions/index.md": decisions_page(),
        "reference/commands.md": commands_page(),
        "reference/fabopt.md": "# fabopt\n\n::: fabopt\n    options: {show_submodules: false}\n",
        **{f"reference/{name}.md": room_page(name, words) for name, words in rooms()},
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Complete the navigation; name sections as code hosts do, where the same links are followed."""
    from pymdownx.slugs import slugify

    config.nav = navigation(config.nav)
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are no files in ``docs``."""
    from mkdocs.structure.files import File

    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for page, content in generated_pages().items():
        files.append(File.generated(config, page, content=content))
    return files


def link_here(target: str, page: str) -> str:
    """A link between pages of the repository as one between pages of the site; ``page`` is the one it is on."""
    path, mark, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", target):
        return target
    homes = {here: there for there, here in OUTSIDE.items()}
    source = homes.get(page, f"docs/{page}")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    known = INSTEAD.get(there) or OUTSIDE.get(there) or there.removeprefix("docs/")
    return posixpath.relpath(known, posixpath.dirname(page) or ".") + mark + anchor


def as_mathml(formula: str, display: str = "inline") -> str:
    """A formula as browsers draw it by themselves; ``ValueError`` where a command of LaTeX is not known."""
    from latex2mathml.converter import convert

    # Fences grow by themselves.
    drawn = str(convert(re.sub(r"\\[bB]ig(?=\\)", "", formula), display=display))
    if "\\" in drawn:
        raise ValueError(f"this formula cannot be drawn: {formula}")
    return drawn


def breaking(name: re.Match[str]) -> str:
    """A name that may be broken after each of its words."""
    return re.sub(r"([._])(?=\w)", r"\1<wbr>", name[0])


def on_page_content(html: str, **_: object) -> str:
    """Draw the formulas of a page; let long names in tables break where their words end."""

    def drawn(found: re.Match[str]) -> str:
        return as_mathml(unescape(found["formula"]), "block" if found["tag"] == "div" else "inline")

    return CELL.sub(lambda cell: NAME.sub(breaking, cell[0]), FORMULA.sub(drawn, html))


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links lead to where pages are on the site."""
    return LINK.sub(lambda link: link[1] + link_here(link[2], page.file.src_uri) + link[3], markdown)


# -- the site stands alone ------------------------------------------------------------------------------------------


class _Loads(HTMLParser):
    """Collects what a page loads from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        values = {name: value or "" for name, value in attrs}
        names = LOADED.get(tag, ())
        if tag == "link" and LOADING_LINKS & set(values.get("rel", "").lower().split()):
            names = ("href",)
        loaded = [values[name] for name in names if name in values]
        self.foreign += [value for value in loaded if re.match(r"(?:https?:)?//", value.strip())]
        self.foreign += IN_STYLES.findall(values.get("style", ""))


def loads_of(path: Path) -> list[str]:
    """Addresses on other machines that a page, drawing or style loads."""
    if path.suffix == ".css":
        return IN_STYLES.findall(path.read_text())
    if path.suffix not in (".html", ".svg"):
        return []
    parser, text = _Loads(), path.read_text()
    parser.feed(text)
    return parser.foreign + IN_STYLES.findall("".join(re.findall(r"<style.*?</style>", text, re.DOTALL)))


def foreign_loads(site: Path) -> list[str]:
    """What pages and styles of a site would ask of other machines when they are viewed: ``page: address``."""
    return [f"{path.relative_to(site)}: {address}" for path in sorted(site.rglob("*")) for address in loads_of(path)]


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that asks anything of other machines."""
    from mkdocs.exceptions import PluginError

    found = foreign_loads(Path(config.site_dir))
    if found:
        raise PluginError(os.linesep.join(["the site loads from elsewhere:", *found]))
