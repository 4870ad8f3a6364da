"""HTML pages that stand alone: style and script are in the page, nothing is fetched, nothing else may run.

Texts of a case or a catalog stay text: escaped in markup, in attributes and in data for scripts. A
Content-Security-Policy allows exactly the page's own style and script, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fabopt.output.words import count, money, power, printable, sentence
from fabopt.units import some

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = "templates"


def render(template: str, **content: Any) -> bytes:
    """Return a page made of a template; text in ``content`` is escaped, except ``Markup``."""
    style, script = _text("page.css"), _text("page.js")
    page = _environment().get_template(template)
    return page.render(**content, style=style, script=script, policy=policy(style, script)).encode()


def fragment(template: str, **content: Any) -> str:
    """Return markup to stand in another page, without style and script; text in ``content`` is escaped."""
    return _environment().get_template(template).render(**content)


def drawn(svg: str) -> Any:
    """Mark an SVG, whose texts are escaped, as markup that goes into a page as it is."""
    from markupsafe import Markup

    return Markup(svg)


def linked(pieces: Iterable[tuple[str, str | None]]) -> Any:
    """Join pieces of text, each with the id of a place in the page to link to, as markup; texts are escaped."""
    from markupsafe import Markup

    link = Markup('<a href="#{}">{}</a>')
    return Markup("").join(
        printable(text) if place is None else link.format(place, printable(text)) for text, place in pieces
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fabopt.output.html", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {"count": count, "money": money, "power": power, "some": some, "sentence": sentence}
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment


def _shown(value: Any) -> Any:
    """Replace control characters, which could reorder or hide parts of a page."""
    return printable(value) if type(value) is str else value


def _text(name: str) -> str:
    return files("fabopt.output.html").joinpath(_TEMPLATES, name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy of a page with a style and a script, which may do nothing else."""
    sources = f"style-src {_hash(style)}; script-src {_hash(script)}; img-src data:"
    return f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
