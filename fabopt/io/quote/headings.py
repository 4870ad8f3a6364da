"""Where the table of a quote begins, and what each of its columns is: by the headings that vendors use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabopt.io.quote.facts import SCALED
from fabopt.io.quote.sheets import Cell, Sheet, letters
from fabopt.io.quote.values import DOLLAR, HOME, agreed_sign, signs_in

# What columns are called, in small letters, without punctuation, brackets and names of currencies.
_CALLED: dict[str, str] = {
    "part": """part number, part no, part nr, part num, part id, part code, parts number, partnumber, partno,
        part, pn, p n, mpn, vpn, spn, sku, sku number, sku no, product number, product no, product code, product
        id, article number, article no, article code, artikelnummer, artikelnr, artikel nr, artikel no, art nr,
        art no, material number, material no, material code, teilenummer, teile nr, teil, bestellnummer, bestell
        nr, herstellernummer, hersteller nr, order code, order number, ordering code, ordering number, catalog
        number, catalogue number, model number, model no, item number, item no, item code, item id, item nr,
        référence, réf, référence fabricant, réf fabricant, número de parte,
        best nr, herst nr, herst art nr, herstellerartikelnummer, code article, code produit, código, cód,
        código de producto,
        código de artículo, nº de parte, no de parte, codice, codice articolo, codice prodotto, 型号, 产品型号,
        规格型号, 料号, 物料号, 物料编码, 产品编号, 产品编码, 货号, 部件号, 订货号, 厂家型号""",
    "id": "id, fabopt id",
    "name": """item, items, product, produkt, artikel, article, model, modell, material, ref, reference,
        hardware, position, posten,
        artículo, producto, modelo, referencia, articolo, prodotto""",
    "description": """description, descr, desc, item description, product description, article description, part
        description, short description, long description, bezeichnung, artikelbezeichnung, beschreibung,
        désignation, designation, details, specification, text, product name, item name, descripción,
        descripcion, concepto, descrizione, omschrijving, libellé, 描述, 产品描述, 名称, 产品名称, 品名, 说明""",
    "quantity": """quantity, qty, qtys, q ty, no of units, order qty, order quantity, total qty, total quantity,
        quoted qty, qty ordered, ordered qty, unit qty, qty ea, qty pcs, quantity all, menge, anzahl, stk,
        stück, stückzahl, qté, quantité, pcs,
        pieces, units, cantidad,
        cant, unidades, quantità, qtà, aantal, 数量""",
    "unit": """unit price, unit cost, price, price each, price ea, price per unit, price per piece, price per
        pc, price per item, price unit, price pc, cost each, cost per unit, each, net price, net unit price,
        unit net price, unit price net, unit net, net unit, your price, our price, your unit price, customer price,
        special price, offer price, quoted unit price, quoted price, sell price, unit sell, unit sell price,
        sales price, discounted price, discounted unit price, einzelpreis, einzel, preis einzel, e preis, ep,
        stückpreis, preis, preis
        stk, preis stück, preis pro stk, preis pro stück, preis je stk, preis je stück, nettopreis,
        nettoeinzelpreis, einzelpreis netto, prix unitaire, prix, pu, p u, pu ht, p u ht, precio, precio unitario,
        precio unit, p unit, precio neto, precio unitario neto, precio por unidad, prix net, pu net, prix unitaire
        net, vk, vk preis, prezzo, prezzo unitario, prijs, prijs per stuk, stuksprijs, p unitario, p u net,
        pu net ht, prix unitaire ht, unit rate, rate each, 单价, 未税单价, 不含税单价, 优惠价""",
    "list": """list price, list, unit list price, list unit price, list price each, unit list, msrp, rrp, gpl,
        catalog price, gross price, gross unit price, retail price, listenpreis, bruttopreis, uvp,
        precio de lista, precio lista, prix catalogue, prix public, prezzo di listino, p u brut, pu brut, prix
        brut, prix unitaire brut, prix tarif, liste, 目录价, 列表价""",
    "discount": """discount, disc, discount rate, discount percent, disc pct, discount pct, rabatt, remise,
        nachlass, descuento, dto, dcto, sconto, korting""",
    "total": """total, total price, total cost, total amount, total net, total net price, net total, line total,
        line amount, line price, line value, ext, ext price, ext cost, ext amount, extended, extended price,
        extended cost, extended amount, extended net price, net extended price, ext net, ext net price,
        extended net, price total, preis gesamt, price ext, price extended, total value, total sell, amount, net amount,
        sum, subtotal, sub total, gesamtpreis, gesamt, summe, betrag, gesamtbetrag, gp, positionspreis,
        montant, montant ht, total ht, importe, quoted total,
        g preis, ges preis, prix total, prix total ht, precio total, importe total, total neto, importo,
        prezzo totale, totale, bedrag, totaalprijs, 总价, 金额, 合计, 小计, 总金额""",
    "currency": "currency, curr, cur, ccy, currency code, währung, whrg, devise, moneda, divisa, valuta, 币种, 货币",
    "lead": """lead time, leadtime, lead, lt, lead time weeks, lead time wks, lead time in weeks, lead time
        days, lead time in days, lead time aro, est lead time, estimated lead time, standard lead time, quoted
        lead time, quoted lead time weeks, ships in, ship time, shipping time, delivery, delivery time,
        delivery weeks, delivery time weeks,
        delivery time days, delivery days, eta, availability, lieferzeit, lieferzeit wochen, lieferzeit in
        wochen, lieferzeit tage, lieferzeit in tagen, lieferfrist, délai, délai de livraison, plazo,
        plazo de entrega, tiempo de entrega, entrega, délai livraison, tempi di consegna, levertijd,
        交期, 货期, 交货期, 交货周期""",
    "validity": """valid, validity, valid until, valid to, valid till, valid through, valid thru, price valid
        until, price validity, quote valid until, quote expiry, offer valid until, expiry, expires, expires on,
        expiry date, expiration, expiration date, validity date, gültig bis, gültigkeit, preis gültig bis,
        validez, vigencia, válido hasta, validité, 有效期""",
    "minimum": """moq, minimum order, minimum order quantity, minimum order qty, min order, min order qty, min
        order quantity, minimum quantity, minimum qty, min qty, min quantity, mindestmenge, mindestbestellmenge,
        mindestabnahme, 最小起订量, 起订量""",
    "pack": """pack, packs, pack size, pack qty, pack quantity, package size, package qty, packaging unit, units
        per pack, pcs per pack, qty per pack, order multiple, multiple, spq, box qty, box size, ve, vpe,
        verpackungseinheit, 包装数量""",
    "measure": """uom, u o m, unit of measure, unit of measurement, units of measure, einheit, mengeneinheit, me,
        unité, unité de mesure, unidad, 单位""",
    "per": "per, pe, price per, per qty, preis per, preiseinheit, prix par, prijs per",
    "length": """length, length m, length in m, length metres, length meters, len, len m, cable length, cable
        length m, länge, länge m, länge in m, kabellänge, longueur, longitud, lunghezza, 长度""",
    "vendor": """vendor, manufacturer, mfr, mfg, make, maker, brand, hersteller, oem, marke, fabricant, fabricante,
        marca, 品牌, 厂商, 制造商""",
    "stock": "stock, in stock, stock qty, stock level, on hand, qty available, lagerbestand, bestand",
    "remarks": "remarks, remark, notes, note, comments, comment, bemerkung, bemerkungen, kommentar, 备注",
}
_ROLES = {" ".join(name.split()): role for role, names in _CALLED.items() for name in names.split(",")}
# Words before the name of a column that do not change what it is.
_WHOSE = re.compile(
    r"^(?:(?:mfr|mfg|manufacturers?|vendors?|suppliers?|oem|makers?|herstellers?|our|your|quoted|s"
    r"|(?:offer|option|alternative|angebot|offre|oferta) \w{1,2})\s)+"
)
# Of names, those that are of things; the others may be numbers of lines.
_THINGS = ("product", "produkt", "article", "artikel", "model", "modell", "material", "hardware")
IDENTITY = ("part", "id", "name")
PRICES = ("unit", "total", "list")
MONEY = (*PRICES, "discount")
_BRACKETS = re.compile(r"[(\[{][^)\]}]*[)\]}]")
_NOT_WORDS = re.compile(r"[^\w\s]")
_MONEY = re.compile(
    r"(?:\bin\s+)?(?:us\$|[$€£]|\b(?:usd|eur|gbp|chf|cny|jpy|cad|aud|sgd|pln|sek|nok|dkk|inr|euros?|dollars?)\b)"
    r"|\b(?:exc|excl|excluding|ex|ohne|without|vat|mwst|ust|tax|netto|ht|hors taxes?)\b"
)
# With the word before it, as in `price in k€`.
_SCALE = re.compile(rf"(?:\b(?:in|en)\s+)?(?:{SCALED.pattern})", re.IGNORECASE)
# Of a sheet that asks for quotes, the columns of the second vendor asked and on.
_OF_ASKED = re.compile(r"\s*\(([2-8])\)$")
QUOTED = "quoted unit price"


class Heading(NamedTuple):
    """What a column is: its role (empty: none that is known), its text, and the currency that it names."""

    role: str
    text: str
    currency: str = ""


@dataclass(frozen=True)
class Header:
    """The headings of a table by column; ``first``, ``last``: the rows that they are in."""

    first: int
    last: int
    headings: Mapping[int, Heading]

    def columns(self, role: str) -> list[int]:
        """Columns of a role, from the left."""
        return [column for column, heading in self.headings.items() if heading.role == role]

    @property
    def currency(self) -> str:
        """The one currency that headings of prices name; empty where none or several are."""
        return agreed_sign(heading.currency for heading in self.headings.values()) or ""

    @property
    def is_quoted(self) -> bool:
        """Whether this is the sheet that was made to be filled in by vendors."""
        return any(heading.text.lower().startswith(QUOTED) for heading in self.headings.values())

    def as_read(self) -> dict[str, list[str]]:
        """Letters of the columns by role."""
        return {role: [letters(column) for column in self.columns(role)] for role in _CALLED if self.columns(role)}

    def not_read(self) -> list[str]:
        """Columns that mean nothing here, as they are headed."""
        return [f"{letters(column)} `{heading.text}`" for column, heading in self.headings.items()
                if heading.role in ("", "remarks")]  # fmt: skip


def role_of(text: str) -> str:
    """The role of a column with this heading; empty where it is none that is known."""
    whole = _BRACKETS.sub(" ", unicodedata.normalize("NFKC", text).lower().replace("_", " "))
    plain = _MONEY.sub(" ", _SCALE.sub(" ", whole))
    if role := _called(plain) or (signs_in(whole.upper()) and _called(f"{plain} price")):
        return role
    roles = [role for part in re.split(r"[/|,]", plain) if (role := _called(part))]
    return min(roles, key=list(_CALLED).index, default="")


def _plain(text: str) -> str:
    """The words of a heading, without punctuation."""
    return " ".join(_NOT_WORDS.sub(" ", text.lower()).split())


def _called(text: str) -> str:
    words = _plain(text)
    return _ROLES.get(words) or _ROLES.get(_WHOSE.sub("", words), "")


def header_at(sheet: Sheet, row: int, asked: int) -> Header | None:
    """The header that begins in a row; None where that is no header. ``asked``: which vendor's columns are read."""
    cells = sheet.spread(row)
    if not _are_texts(cells):
        return None
    upper = {column: cell.text for column, cell in cells.items()}
    lower = {column: cell.text for column, cell in sheet.rows.get(row + 1, {}).items()}
    spread = {column for column in upper if column not in sheet.rows.get(row, {})}
    if spread and len(set(upper.values())) > 1 and _are_texts(sheet.rows.get(row + 1, {})):
        below = _header(
            row, row + 1, {**upper, **{c: _joined(upper.get(c, ""), text) for c, text in lower.items()}}, asked
        )
        if below is not None:
            return below
    alone = {column: text for column, text in upper.items() if column not in spread}
    return _header(row, row, alone, asked)


def _joined(upper: str, lower: str) -> str:
    """The heading of a column of two rows: the lower one, with a currency of the upper one, where that says enough."""
    both = f"{upper} {lower}".strip()
    signs = signs_in(upper.upper())
    if not role_of(lower) or (signs and role_of(both)):
        return both
    return f"{lower} ({', '.join(signs)})" if signs else lower


def _are_texts(cells: Mapping[int, Cell]) -> bool:
    return len(cells) > 1 and all(isinstance(cell.value, str) for cell in cells.values())


def _header(first: int, last: int, texts: Mapping[int, str], asked: int) -> Header | None:
    headings = {column: _heading(texts[column], asked) for column in sorted(texts)}
    headings = _with_one_currency(_with_plain_quantity(_with_unit(_without_weak_names(headings))))
    roles = [heading.role for heading in headings.values()]
    has_name = any(role in (*IDENTITY, "description") for role in roles)
    if not has_name or not any(role in PRICES for role in roles):
        return None
    return Header(first, last, headings)


def _heading(text: str, asked: int) -> Heading:
    """A heading; those of other vendors than the one whose columns are read have no role."""
    match = _OF_ASKED.search(text)
    number = int(match.group(1)) if match else 1
    plain = text[: match.start()] if match else text
    role = role_of(plain)
    is_quoted = plain.lower().startswith("quoted")
    if (match or (is_quoted and asked > 1)) and number != asked:
        return Heading("", text)
    return Heading(role, plain, agreed_sign(signs_in(text.upper())) or "" if role in PRICES else "")


def _without_weak_names(headings: dict[int, Heading]) -> dict[int, Heading]:
    """Where another column has part numbers, names are no more than words on them, if nothing else describes parts.

    What may be the number of a line or a group of parts is not read.
    """
    roles = [heading.role for heading in headings.values()]
    if "part" not in roles:
        return headings
    instead = "" if "description" in roles else "description"
    return {column: heading._replace(role=instead if _plain(heading.text) in _THINGS else "")
            if heading.role == "name" else heading for column, heading in headings.items()}  # fmt: skip


def _with_unit(headings: dict[int, Heading]) -> dict[int, Heading]:
    """With a column `Unit` as units of measure, where another one has the prices of a unit."""
    has_price = any(heading.role == "unit" for heading in headings.values())
    return {column: heading._replace(role="measure") if has_price and heading == Heading("", heading.text)
            and _plain(heading.text) == "unit" else heading for column, heading in headings.items()}  # fmt: skip


def _with_plain_quantity(headings: dict[int, Heading]) -> dict[int, Heading]:
    """With one column of quantities: the one that is headed with that word alone, where several are."""
    columns = [column for column, heading in headings.items() if heading.role == "quantity"]
    plain = [column for column in columns if headings[column].text.strip().lower() in ("quantity", "qty", "menge")]
    kept = (plain or columns)[:1]
    return {column: heading._replace(role="") if column in columns and column not in kept else heading
            for column, heading in headings.items()}  # fmt: skip


def _with_one_currency(headings: dict[int, Heading]) -> dict[int, Heading]:
    """With prices in one currency, where they stand in several beside each other: dollars, else the first."""
    named = [heading.currency for heading in headings.values() if heading.currency]
    if len(set(named)) < 2:
        return headings
    kept = next((dollars for dollars in (HOME, DOLLAR) if dollars in named), named[0])
    return {column: heading._replace(role="") if heading.currency not in ("", kept) else heading
            for column, heading in headings.items()}  # fmt: skip


def headers_of(sheet: Sheet, asked: int) -> Sequence[Header]:
    """All headers of a sheet, from the top; a table may begin again below another."""
    headers: list[Header] = []
    for row in sorted(sheet.rows):
        if headers and row <= headers[-1].last:
            continue
        header = header_at(sheet, row, asked)
        if header is not None:
            headers.append(_as_shown(header, sheet))
    return headers


def _as_shown(header: Header, sheet: Sheet) -> Header:
    """The header without roles of hidden columns that have prices: nobody offered these, as one's own costs."""
    headings = {
        column: Heading("", f"{heading.text} (hidden)") if column in sheet.hidden_columns and heading.role in MONEY
        else heading for column, heading in header.headings.items()
    }  # fmt: skip
    return Header(header.first, header.last, headings)
