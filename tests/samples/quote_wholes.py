"""Whole quotes by kind and language: currencies, thousands, tax, sums, discounts, tiers, titles, with what is right.

Written from what vendors send, not from the words that the reader knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

SWITCH, OPTIC = "nvidia-qm9790", "nvidia-mma4z00-ns"
_SWITCH, _OPTIC = "MQM9790-NS2F", "MMA4Z00-NS"
_HEAD = "Part number,Description,Qty,Unit price USD"
_LINE = f"{_SWITCH},Quantum-2 switch,10,31000"

CURRENCIES = {
    "All amounts in Swiss francs": "CHF", "Quotation currency: Pound Sterling": "GBP",
    "Prices stated in Japanese Yen": "JPY", "Preise in britischen Pfund": "GBP", "Währung: Euro": "EUR",
    "Alle Beträge in Kanadischen Dollar": "CAD", "Angebotspreise in Dänischen Kronen": "DKK",
    "Montants exprimés en euros": "EUR", "Devise : livre sterling": "GBP", "Prix en yens": "JPY",
    "Precios en euros": "EUR", "Moneda: libra esterlina": "GBP", "Importes en reales brasileños": "BRL",
    "Precios expresados en pesos chilenos": "CLP", "通貨:ユーロ": "EUR", "単位:英ポンド": "GBP",
    "金額はスイスフランにて": "CHF", "币种:欧元": "EUR", "报价货币:英镑": "GBP", "价格单位:新加坡元": "SGD",
    "单位:人民币元": "CNY", "Prices in Indian Rupees": "INR", "Prices in South Korean won": "KRW",
    "Prices in Saudi riyals": "SAR", "Preise in norwegischen Kronen": "NOK", "Prices in Hong Kong dollars": "HKD",
    "Prices in New Taiwan dollars": "TWD", "Prices in Israeli shekels": "ILS", "Prix en couronnes suédoises": "SEK",
    "Precios en francos suizos": "CHF", "価格は人民元です": "CNY", "金額単位:香港ドル": "HKD",
}  # fmt: skip
# Headings of prices that are not in dollars, and of prices with tax.
SCALED = ["Unit price (kUSD)", "Unit price in thousand USD", "Unit price USD '000", "Preis (TUSD)", "Price (k$)",
          "Einzelpreis in Tsd. USD", "P.U. (milliers USD)", "Precio (miles de USD)", "単価(千ドル)", "单价(千美元)",
          "Unit price x1000 USD", "単価(千USD)", "单价(万美元)"]  # fmt: skip
TAXED = ["Unit price incl. VAT USD", "Bruttopreis inkl. MwSt. USD", "Prix unitaire TTC USD", "Precio con IVA USD",
         "Precio IVA incluido USD", "税込単価 USD", "含税单价 USD", "Einzelpreis brutto inkl. USt USD", "PU TTC (USD)",
         "Unit price (GST inclusive) USD", "価格(税込)USD"]  # fmt: skip
TAX_SAID = ["All prices include VAT", "Alle Preise inkl. 19 % MwSt.", "Prix TTC", "Todos los precios con IVA incluido",
            "表示価格は税込です", "以上价格均为含税价", "Prices are inclusive of GST", "Preise brutto",
            "Les prix s'entendent toutes taxes comprises", "Die Preise verstehen sich inklusive Mehrwertsteuer",
            "上記金額には消費税を含む", "以上报价含13%增值税"]  # fmt: skip
NO_TAX_SAID = ["Prices exclude VAT", "Alle Preise zzgl. MwSt.", "Prix hors taxes", "Precios sin IVA", "税抜表示",
               "以上价格不含税"]  # fmt: skip
# Taxes of 20 % that are in a total, by name.
TAX_WITHIN = ["of which VAT 20 %", "darin enthaltene MwSt. 20 %", "davon Umsatzsteuer", "dont TVA 20 %",
              "di cui IVA 20%", "waarvan btw 20 %", "VAT included", "Included tax (20 %)", "thereof VAT"]  # fmt: skip
SUMS = ["Grand total", "Total amount USD", "Gesamtsumme netto", "Endbetrag", "Nettobetrag", "Montant total HT",
        "Total général", "Importe total", "Total general", "御見積金額", "合計金額", "总计", "合计金额", "Net total",
        "Angebotssumme", "Total Quote Value", "Order total", "Total de la oferta", "Total de l'offre", "見積合計",
        "报价总额"]  # fmt: skip
DISCOUNTS_ON_ALL = {
    "Project discount 10 %": "-31000", "Gesamtrabatt 10 %": "-31000", "Remise globale 10 %": "-31000",
    "Descuento global 10 %": "-31000", "出精値引": "-31000", "整单优惠": "-31000", "特別値引き": "▲31000",
    "Sondernachlass": "-31000", "Bonificación": "-31000", "Less 10% volume discount": "(31000)",
}  # fmt: skip
# Tables of a line or of tiers, with what they cost from one unit on.
TABLES: dict[str, tuple[str, Mapping[str, float]]] = {
    f"{name}: {rows[0]}": ("\n".join(rows) + "\n", usd)
    for name, usd, *rows in (
        ("tax below", {SWITCH: 31000}, f"{_HEAD},Total USD", f"{_LINE},310000", "Subtotal,,,,310000",
         "VAT 19%,,,,58900", "Total incl. VAT,,,,368900"),
        ("tax below", {SWITCH: 31000}, "Artikelnummer;Bezeichnung;Menge;Einzelpreis USD;Gesamt USD",
         f"{_SWITCH};Quantum-2 Switch;10;31.000,00;310.000,00", "Nettosumme;;;;310.000,00",
         "zzgl. 19 % MwSt.;;;;58.900,00", "Bruttosumme;;;;368.900,00"),
        ("tax below", {SWITCH: 31000}, "Référence;Désignation;Qté;PU HT USD;Total HT USD",
         f"{_SWITCH};Commutateur Quantum-2;10;31 000,00;310 000,00", "Total HT;;;;310 000,00",
         "TVA 20 %;;;;62 000,00", "Total TTC;;;;372 000,00"),
        ("tax below", {SWITCH: 31000}, "Referencia;Descripción;Cant.;Precio USD;Importe USD",
         f"{_SWITCH};Conmutador Quantum-2;10;31.000,00;310.000,00", "Base imponible;;;;310.000,00",
         "IVA 21 %;;;;65.100,00", "Total;;;;375.100,00"),
        ("tax below", {SWITCH: 31000}, "型番,品名,数量,単価 USD,金額 USD",
         f"{_SWITCH},Quantum-2 スイッチ,10,31000,310000",
         "小計,,,,310000", "消費税(10%),,,,31000", "合計,,,,341000"),
        ("tax below", {SWITCH: 31000}, "型号,名称,数量,单价 USD,金额 USD",
         f"{_SWITCH},Quantum-2 交换机,10,31000,310000",
         "小计,,,,310000", "增值税 13%,,,,40300", "价税合计,,,,350300"),
        ("discount", {SWITCH: 31000}, "Part number,Description,Qty,List price USD,Disc %,Total USD",
         f"{_SWITCH},Quantum-2 switch,10,40000,22.5,310000"),
        ("discount", {SWITCH: 31000}, "Art.-Nr.;Bezeichnung;Menge;Listenpreis USD;Rabatt;Gesamt USD",
         f"{_SWITCH};Quantum-2 Switch;10;40.000,00;22,5 %;310.000,00"),
        ("discount", {SWITCH: 31000}, "Référence;Désignation;Qté;Prix public USD;Remise %;Montant HT USD",
         f"{_SWITCH};Commutateur;10;40 000,00;22,5;310 000,00"),
        ("discount", {SWITCH: 31000}, "Código;Descripción;Cant.;PVP USD;Dto. %;Importe USD",
         f"{_SWITCH};Conmutador;10;40.000,00;22,5;310.000,00"),
        ("paid share", {SWITCH: 31000}, "型番,品名,数量,定価 USD,掛率,金額 USD",
         f"{_SWITCH},スイッチ,10,40000,77.5%,310000"),
        ("discount", {SWITCH: 31000}, "型号,名称,数量,目录价 USD,折扣率,合计 USD",
         f"{_SWITCH},交换机,10,40000,22.5%,310000"),
        ("paid tenths", {SWITCH: 34000}, "型号,名称,数量,目录价 USD,折扣,合计 USD",
         f"{_SWITCH},交换机,10,40000,8.5折,340000"),
        ("net without a name", {SWITCH: 31000}, "Part number,Description,Qty,List USD,Special bid,Ext",
         f"{_SWITCH},Quantum-2 switch,10,40000,31000,310000"),
        ("thousands", {SWITCH: 31000}, "Artikelnummer;Bezeichnung;Menge;Einzelpreis USD;Gesamt USD",
         f"{_SWITCH};Quantum-2 Switch;10;31.000;310.000"),
        ("apostrophes", {SWITCH: 31000}, "Artikelnummer;Bezeichnung;Menge;Einzelpreis USD;Gesamt USD",
         f"{_SWITCH};Quantum-2 Switch;10;31'000.00;310'000.00"),
        ("lakhs", {SWITCH: 31000}, f"{_HEAD},Total USD", f'{_SWITCH},Quantum-2 switch,10,"31,000.00","3,10,000.00"'),
        ("wide digits", {SWITCH: 31000}, "型番,品名,数量,単価 USD,金額 USD",
         f"{_SWITCH},スイッチ,１０,３１０００,３１００００"),
        ("minimum below", {OPTIC: 870}, f"{_HEAD},Notes", f"{_OPTIC},Twin-port module,100,870,MOQ 50"),
        ("one of each", {SWITCH: 31000, OPTIC: 870}, "Part number,Description,Unit price USD",
         f"{_SWITCH},Quantum-2 switch,31000", f"{_OPTIC},Twin-port module,870", "Total,,31870"),
        ("tiers", {OPTIC: 880}, "Part number,Description,From qty,Unit price USD",
         *(f"{_OPTIC},Twin-port module,{tier}" for tier in ("1,880", "100,800", "500,700"))),
        ("tiers", {OPTIC: 880}, "Part number,Description,1-99,100-499,500+", f"{_OPTIC},Twin-port module,880,800,700"),
        ("tiers", {OPTIC: 880}, "Part number,Description,Price USD 1-99,Price USD 100-499,Price USD 500+",
         f"{_OPTIC},Twin-port module,880,800,700"),
        ("tiers", {OPTIC: 880}, "Artikelnummer;Bezeichnung;ab Menge;Preis USD",
         *(f"{_OPTIC};Twin-Port-Modul;{tier}" for tier in ("1;880,00", "100;800,00"))),
        ("tiers", {OPTIC: 880}, "Artikelnummer;Bezeichnung;ab 1 Stk.;ab 100 Stk.;ab 500 Stk.",
         f"{_OPTIC};Twin-Port-Modul;880,00;800,00;700,00"),
        ("tiers", {OPTIC: 880}, "Part number,Description,Quantity,Unit price USD",
         *(f"{_OPTIC},Twin-port module,{tier}" for tier in ("1 - 99,880", "100 - 499,800", "500+,700"))),
        ("tiers", {OPTIC: 880}, "Référence;Désignation;À partir de;Prix unitaire USD",
         *(f"{_OPTIC};Module double port;{tier}" for tier in ("1;880,00", "100;800,00"))),
        ("tiers", {OPTIC: 880}, "Código;Descripción;Desde;Precio USD",
         *(f"{_OPTIC};Módulo;{tier}" for tier in ("1;880,00", "100;800,00"))),
        ("tiers", {OPTIC: 880}, "型番,品名,数量,単価 USD",
         *(f"{_OPTIC},モジュール,{tier}" for tier in ("1～99,880", "100～499,800", "500～,700"))),
        ("tiers", {OPTIC: 880}, "型番,品名,数量,単価 USD ",
         *(f"{_OPTIC},モジュール,{tier}" for tier in ("1-99個,880", "100個以上,800"))),
        *(("tiers", {OPTIC: 880}, f"Part number,Description,{tiers}", f"{_OPTIC},Twin-port module,880,800,700")
          for tiers in ("De 1 a 99,De 100 a 499,Más de 499", "1〜99個,100〜499個,500個以上",
                        "1-99件,100-499件,500件以上",
                        "bis 99,100 bis 499,über 499", "1 à 99,100 à 499,500 et plus",
                        "Unit price USD,>=100,>=500")),
        ("tiers", {OPTIC: 880}, "型号,名称,数量区间,单价 USD",
         *(f"{_OPTIC},光模块,{tier}" for tier in ("1-99,880", "100-499,800", "≥500,700"))),
    )
}  # fmt: skip
# Tables of which something does not fit.
WRONG = {
    "total of a line": [f"{_HEAD},Total USD", f"{_LINE},280000"],
    "digits changed round": [f"{_HEAD},Total USD", f"{_OPTIC},Twin-port module,100,870,78000"],
    "subtotal": [f"{_HEAD},Total USD", f"{_LINE},310000", "Subtotal,,,,300000",
                 f"{_OPTIC},Twin-port module,100,870,87000", "Total,,,,397000"],
    "discount": ["Part number,Description,Qty,List price USD,Disc %,Net price USD",
                 f"{_SWITCH},Quantum-2 switch,10,40000,22.5,36000"],
    "tiers rise": ["Part number,Description,From qty,Unit price USD", f"{_OPTIC},Twin-port module,1,780",
                   f"{_OPTIC},Twin-port module,100,880"],
    "too high": [_HEAD, f"{_SWITCH},Quantum-2 switch,10,131000"],
    "too low": [_HEAD, f"{_SWITCH},Quantum-2 switch,10,3100"],
    "minimum in a column": [f"{_HEAD},MOQ", f"{_OPTIC},Twin-port module,100,870,1000"],
    "minimum in words": [f"{_HEAD},Notes", f"{_OPTIC},Twin-port module,100,870,MOQ 1000"],
    "total without quantities": ["Part number,Description,Unit price USD", f"{_SWITCH},Quantum-2 switch,31000",
                                 f"{_OPTIC},Twin-port module,870", "Grand total,,123000"],
    "swapped": [_HEAD, f"{_SWITCH},Quantum-2 switch,10,870", f"{_OPTIC},Twin-port module,100,31000"],
}  # fmt: skip
BAD_CELLS = ["100,abc", "100,1e99", "-5,870", "100,#REF!", "100,NaN", "100,", "100,-870", "100,870 ABC"]
TITLES_OF_OTHERS = ["Services", "Professional services", "Montageleistungen", "Wartung und Support", "Prestations",
                    "Maintenance", "Servicios", "Mantenimiento", "作業費", "保守", "服务", "维保", "Licenses",
                    "Lizenzen", "Cancelled items", "Rental", "Mietgeräte", "Used equipment",
                    "Gebrauchtgeräte"]  # fmt: skip
TITLES_OF_PARTS = ["Compute fabric", "Network equipment", "Spine layer", "Netzwerkkomponenten", "Matériel réseau",
                   "Equipos de red", "ネットワーク機器", "网络设备", "Switches", "Hardware", "Pod 1"]  # fmt: skip
# What stands in a column of lead times, and the weeks that it says.
LEAD_TIMES = [
    ("Lead time", "12-14 weeks", 14), ("Lead time", "ARO 12-14 wks", 14), ("Lieferzeit", "sofort", 0),
    ("納期", "即納", 0), ("Lieferzeit", "ab Lager", 0), ("Délai", "8 semaines", 8), ("Délai", "immédiat", 0),
    ("Plazo", "6 semanas", 6), ("Plazo", "inmediato", 0), ("納期", "6週間", 6), ("納期", "約2ヶ月", 9),
    ("交期", "现货", 0), ("交期", "4-6周", 6), ("Lead time", "90 days ARO", 13), ("Lieferzeit", "ca. 10 Wochen", 10),
    ("Lead time", "in stock", 0), ("Lead time", "3 months", 13), ("Lieferzeit", "3-4 Monate", 18),
    ("交货期", "30天", 5), ("納期", "受注後8週", 8), ("Lead time", "8 wks after receipt of order", 8),
    ("Délai", "stock", 0), ("Plazo", "en stock", 0),
]  # fmt: skip


# Headings that name a currency beside a word for a price; totals that texts say, of lines of 397000.
PRICED_IN = {"Precio MXN": "MXN", "Prix XOF": "XOF", "Preis HUF": "HUF", "Price BRL": "BRL", "Precio COP": "COP"}
SAID_TOTALS = ["Total offer value: USD {}", "The total of this offer is USD {}", "Grand total: {} USD",
               "Gesamtpreis: {} USD", "Der Angebotspreis beträgt USD {}", "Montant total HT : {} USD",
               "Le montant total de l'offre s'élève à {} USD", "Importe total: {} USD",
               "El importe total de la oferta asciende a USD {}", "御見積金額 {} USD", "合計金額は USD {} です",
               "报价总价: {} USD", "合计金额为 USD {}"]  # fmt: skip
NO_TOTALS = ["Total weight 1,204 kg", "30 % of the total of USD 397,000 is due with the order", "Total ports: 640",
             "Our total liability is limited to USD 1,000,000", "Mindestbestellwert 500 USD"]  # fmt: skip


class Whole(NamedTuple):
    """A quote, and the dollars of one unit of each part in it; None where no price may be taken in silence.

    ``is_clear``: nothing is said against the prices.
    """

    name: str
    text: str
    usd: Mapping[str, float] | None
    rates: tuple[str, ...] = ()
    is_clear: bool = True


def wholes() -> Iterator[Whole]:
    """All whole quotes."""
    for title, code in CURRENCIES.items():
        text = f'"{title}"\nItem,Description,Qty,Unit price,Total\n{_SWITCH},Quantum-2 switch,10,62000,620000\n'
        yield Whole(f"{title}: no rate", text, None)
        yield Whole(title, text, {SWITCH: 31000}, (f"{code}=0.5",))
    for heading in SCALED:
        for price in (31, 31000):
            text = f"Part number,Description,Qty,{heading}\n{_SWITCH},Quantum-2 switch,10,{price}\n"
            yield Whole(f"{heading}: {price}", text, None)
    for heading in TAXED:
        yield Whole(heading, f"Part number,Description,Qty,{heading}\n{_LINE}\n", None)
    for said in TAX_SAID:
        yield Whole(said, f'{_HEAD}\n{_LINE}\n"{said}"\n', None)
    for said in NO_TAX_SAID:
        yield Whole(said, f'{_HEAD}\n{_LINE}\n"{said}"\n', {SWITCH: 31000})
    for name in SUMS:
        text = f"{_HEAD},Total USD\n{_LINE},310000\n{_OPTIC},Twin-port module,100,870,87000\n{name},,,,"
        yield Whole(f"{name}: wrong", f"{text}512000\n", None)
        yield Whole(f"{name}: right", f"{text}397000\n", {SWITCH: 31000, OPTIC: 870})
    lines = f"{_LINE},310000\n{_OPTIC},Twin-port module,100,870,87000\n"
    for said in SAID_TOTALS:
        for number, usd in (("512000", None), ("397000", {SWITCH: 31000, OPTIC: 870})):
            text = f'"{said.format(number)}"\n'
            yield Whole(f"{said}: {number} above", f"{text}{_HEAD},Total USD\n{lines}", usd)
            yield Whole(f"{said}: {number} below", f"{_HEAD},Total USD\n{lines}{text}", usd)
    for said in NO_TOTALS:
        yield Whole(said, f'{_HEAD},Total USD\n{lines}"{said}"\n', {SWITCH: 31000, OPTIC: 870})
    for said in ("Prices in Loonies", "Precios en soles", "Preise in Talern", "All prices are in buckazoids"):
        yield Whole(said, f'"{said}"\n{_HEAD.replace(" USD", "")}\n{_LINE}\n', None)
    for said in (
        "Prices in effect until 31 December",
        "Prices in effect",
        "Prix en vigueur",
        "Precios en firme",
        "Preise in US-Dollar",
        "Prices in U.S. dollars",
    ):
        yield Whole(said, f'"{said}"\n{_HEAD.replace(" USD", "")}\n{_LINE}\n', {SWITCH: 31000})
    for heading, code in PRICED_IN.items():
        text = f"Part number,Description,Qty,{heading}\n{_SWITCH},Quantum-2 switch,10,62000\n"
        yield Whole(f"{heading}: no rate", text, None)
        yield Whole(heading, text, {SWITCH: 31000}, (f"{code}=0.5",))
    for name in ("Total incl. VAT", "Gesamtbetrag inkl. MwSt.", "Total TTC", "Total con IVA", "税込合計", "含税合计"):
        yield Whole(f"{name} is the sum", f"{_HEAD},Total USD\n{lines}{name},,,,397000\n", None)
    for name in TAX_WITHIN:
        text = f"{_HEAD},Total USD\n{lines}"
        yield Whole(f"{name}: in the prices", f"{text}Total,,,,397000\n{name},,,,66166.67\n", None)
        on_top = f"{text}Net total,,,,397000\nTotal amount,,,,476400\n{name},,,,79400\n"
        yield Whole(f"{name}: on top", on_top, {SWITCH: 31000, OPTIC: 870})
    for name, amount in DISCOUNTS_ON_ALL.items():
        text = f"{_HEAD},Total USD\n{_LINE},310000\n{name},,,,{amount}\nTotal,,,,279000\n"
        yield Whole(name, text, {SWITCH: 27900} if name.endswith("10 %") else None)
    for name, (text, usd) in TABLES.items():
        yield Whole(name, text, usd)
    for name, rows in WRONG.items():
        yield Whole(name, "\n".join(rows) + "\n", None)
    for cells in BAD_CELLS:
        text = f"{_HEAD}\n{_LINE}\n{_OPTIC},Twin-port module,{cells}\n"
        yield Whole(f"one bad line: {cells}", text, {SWITCH: 31000}, is_clear=False)
    for title in (*TITLES_OF_OTHERS, *TITLES_OF_PARTS):
        usd = None if title in TITLES_OF_OTHERS else {SWITCH: 31000}
        yield Whole(f"below {title}", f"{_HEAD}\n{title},,,\n{_LINE}\n", usd)
